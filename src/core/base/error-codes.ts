/** HTTP code for each status that an error response can have. A new status needs a new line here. */
export const httpCodes = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  ABORTED: 409,
  RESOURCE_EXHAUSTED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const

export type Status = keyof typeof httpCodes

/** Description of one error code, as the documentation lists it (`src/docs/errors.md`). */
interface ErrorCause {
  readonly status: Status
  /** HTTP code of the error; undefined if it is the usual code of the status. */
  readonly httpCode?: number
  /** Describes the problem in one sentence. */
  readonly meaning: string
  /** Describes the remedy in one sentence. */
  readonly remedy: string
}

/**
 * Every value that `error.details.code` can have. A code is stable, because clients compare with it: it is
 * never renamed and its status never changes. Each `ApiError` has exactly one of these codes.
 */
export const errorCodes = {
  'request/malformed': {
    status: 'INVALID_ARGUMENT',
    meaning: 'The request is not valid HTTP, or its target, `Host` or `Expect` header is not valid.',
    remedy: 'Send the request with an HTTP library. Correct the part that the message names.',
  },
  'request/expectation-unsupported': {
    status: 'INVALID_ARGUMENT',
    httpCode: 417,
    meaning: 'The `Expect` header asks for anything other than `100-continue`.',
    remedy: 'Leave out the `Expect` header.',
  },
  'request/headers-too-large': {
    status: 'INVALID_ARGUMENT',
    httpCode: 431,
    meaning: 'The request has too many headers, or too many bytes of headers.',
    remedy:
      'Send fewer and shorter headers. Cookies of other applications on the same domain are a frequent cause.',
  },
  'request/chunk-extensions-too-large': {
    status: 'INVALID_ARGUMENT',
    httpCode: 413,
    meaning: 'The chunk extensions of the body are too large.',
    remedy: 'Send the body without chunk extensions.',
  },
  'request/timeout': {
    status: 'INVALID_ARGUMENT',
    httpCode: 408,
    meaning: 'The headers or the body did not arrive in time.',
    remedy: 'Send the request again, with a smaller body if the connection is slow.',
  },
  'request/unknown-path': {
    status: 'NOT_FOUND',
    meaning: 'There is no operation or page at this path.',
    remedy: 'Compare the path with the API reference at `/docs/reference`.',
  },
  'request/method': {
    status: 'INVALID_ARGUMENT',
    httpCode: 405,
    meaning: 'The path exists, but not with this HTTP method.',
    remedy: 'Use a method of the `Allow` header. All operations are `POST`.',
  },
  'request/content-type': {
    status: 'INVALID_ARGUMENT',
    meaning: 'The headers do not declare the body as uncompressed JSON in UTF-8.',
    remedy: 'Send `content-type: application/json`, and no `content-encoding`.',
  },
  'request/body-too-large': {
    status: 'INVALID_ARGUMENT',
    httpCode: 413,
    meaning: 'The body is larger than `maxBodyBytes`.',
    remedy: 'Split the call into several, or raise `WEFT_MAX_BODY_BYTES`.',
  },
  'request/invalid-json': {
    status: 'INVALID_ARGUMENT',
    meaning:
      'The body is not a JSON object in UTF-8. The message and `details` name line and column of the problem.',
    remedy: 'Correct the JSON at that place. Create bodies with a JSON library.',
  },
  'request/too-deep': {
    status: 'INVALID_ARGUMENT',
    meaning: 'The arrays and objects of the body are nested too deeply.',
    remedy: 'Flatten the body below the number of levels that the message names.',
  },
  'request/too-many-values': {
    status: 'INVALID_ARGUMENT',
    meaning: 'The body has too many arrays, objects and values.',
    remedy: 'Split the call into several with fewer values than the message names.',
  },
  'request/invalid-member': {
    status: 'INVALID_ARGUMENT',
    meaning:
      'A member of the body is missing or not valid. `details.issues` lists each with its JSON pointer.',
    remedy: 'Correct the members that `details.issues` names.',
  },
  'request/unknown-member': {
    status: 'INVALID_ARGUMENT',
    meaning:
      'The operation has no such member, query parameter or header. `details.issues` lists the members, each with the ' +
      'known name that it misspells, if any.',
    remedy:
      'Correct or remove them. With the option `unknownMembers`, operations that write ignore unknown members that do not ' +
      'look like a misspelled known name.',
  },
  'request/repeated-item': {
    status: 'INVALID_ARGUMENT',
    meaning: 'An annotation lists one comment id more than once. The call does not add the annotation.',
    remedy: 'Give each comment of an annotation its own id.',
  },
  'request/too-many-users': {
    status: 'INVALID_ARGUMENT',
    meaning: 'The item, or the items of the call together, name too many users.',
    remedy: 'Name fewer users, or divide the items among several calls. The message names the limit.',
  },
  'request/page-token': {
    status: 'INVALID_ARGUMENT',
    meaning: 'The page token or iterator is damaged, or belongs to another query.',
    remedy: 'Start the listing again without a token. Keep all other members the same between pages.',
  },
  'request/conflict': {
    status: 'ABORTED',
    meaning: 'Other calls changed the same records each time the server tried.',
    remedy: 'Send the call again after a moment.',
  },

  'idempotency/invalid-key': {
    status: 'INVALID_ARGUMENT',
    meaning: 'The `idempotency-key` header is not a valid key.',
    remedy: 'Send one key of visible ASCII characters, for example a UUID.',
  },
  'idempotency/key-reused': {
    status: 'INVALID_ARGUMENT',
    meaning: 'The `idempotency-key` was used for another operation or another body.',
    remedy: 'Use a new key for each new call.',
  },
  'idempotency/in-progress': {
    status: 'ABORTED',
    meaning: 'The first call with this `idempotency-key` is not finished. `details.outcome` is `running`.',
    remedy: 'Send the same call with the same key again after `Retry-After` seconds.',
  },
  'idempotency/outcome-unknown': {
    status: 'ABORTED',
    meaning: 'The server stopped during the first call with this key. `details.outcome` is `unknown`.',
    remedy: 'Check whether the call took effect. If it did not, send it with a new key.',
  },
  'idempotency/response-not-kept': {
    status: 'ABORTED',
    meaning: 'The first call with this key has a final outcome, but its response is not stored.',
    remedy: 'Do not repeat the call. Read the result with another operation.',
  },

  'auth/missing-credentials': {
    status: 'INVALID_ARGUMENT',
    meaning: 'A header with a credential is missing.',
    remedy: 'Send the header that the message names.',
  },
  'auth/invalid-credentials': {
    status: 'UNAUTHENTICATED',
    meaning:
      'The credentials in the headers are not valid together. The response is the same for an unknown key and for a wrong token.',
    remedy:
      'Check both headers. Check also that this server, with this data directory, issued the credentials.',
  },
  'auth/credentials-mismatch': {
    status: 'UNAUTHENTICATED',
    meaning: 'The operation repeats the credentials in its body, and they differ from the headers.',
    remedy: 'Send the same API key and auth token in the body and in the headers.',
  },
  'auth/origin-not-allowed': {
    status: 'PERMISSION_DENIED',
    meaning: 'A browser page called with an API key from a domain that is not allowed for it.',
    remedy: 'Call from your backend, or allow the domain with `/v2/workspace/domains/add`.',
  },
  'auth/loopback-only': {
    status: 'PERMISSION_DENIED',
    meaning: 'The server runs without authentication, so it accepts requests of this machine only.',
    remedy: 'Call it at `localhost`, or start the server with authentication.',
  },
  'auth/admin-token-unset': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The operation needs the admin token, and this server does not have one.',
    remedy: 'Start the server with `WEFT_ADMIN_TOKEN`.',
  },
  'auth/metrics-token': {
    status: 'UNAUTHENTICATED',
    meaning: 'The request for metrics does not have the metrics token.',
    remedy:
      'Send `Authorization: Bearer <WEFT_METRICS_TOKEN>` to `/metrics`, and the member `metricsToken` to operations.',
  },
  'auth/token-too-long': {
    status: 'INVALID_ARGUMENT',
    meaning: 'The token would be too long for a URL, because it names too many resources.',
    remedy: 'Grant folders or the organization instead of single documents, or leave out `permissions`.',
  },
  'auth/too-many-results': {
    status: 'INVALID_ARGUMENT',
    meaning: 'The number of users times the number of resources is too large for one response.',
    remedy: 'Split the call into several.',
  },
  'auth/resource-not-found': {
    status: 'NOT_FOUND',
    meaning:
      'A requested folder, document or the organization does not exist. `details` has the result for each user.',
    remedy: 'Leave out the resources that have the `errorCode` `does_not_exist`, or create them.',
  },

  'agent/invalid-token': {
    status: 'UNAUTHENTICATED',
    meaning:
      'The bearer token is rejected. `details.reason` is why, such as `expired` or `revoked`; see `/v2/auth/inspect_token`.',
    remedy: 'Create a new token with `/v2/auth/generate_token`.',
  },
  'agent/token-required': {
    status: 'PERMISSION_DENIED',
    meaning:
      'The bearer token is valid, but it is the token of a person, which only realtime connections accept.',
    remedy: 'Create the token with `agent: true`, or call from your backend with an API key.',
  },
  'agent/token-unchecked': {
    status: 'UNAVAILABLE',
    meaning:
      'The bearer token, or the rights of its agent, could not be checked: the identity provider or your callback does not answer.',
    remedy: 'Send the call again after `Retry-After` seconds.',
  },
  'agent/operation-not-allowed': {
    status: 'PERMISSION_DENIED',
    meaning: 'Agents must not call this operation.',
    remedy:
      'Call it from your backend with an API key. The reference states which operations are open to agents.',
  },
  'agent/role-required': {
    status: 'PERMISSION_DENIED',
    meaning:
      'The role of the agent on the document, or a policy, does not permit the call. `details` has the present and the required role.',
    remedy: 'Give the agent the role, or let it change a branch that it has created.',
  },
  'agent/other-user': {
    status: 'PERMISSION_DENIED',
    meaning: 'A member of the call names another user than the agent.',
    remedy: 'Leave the member out: the server sets it to the agent.',
  },
  'agent/delete-not-allowed': {
    status: 'PERMISSION_DENIED',
    meaning: 'The policy `no-delete` applies to the agent, and the call would delete content.',
    remedy: 'Insert content only, or create a token without this policy.',
  },
  'agent/protected-content': {
    status: 'PERMISSION_DENIED',
    meaning:
      'The call would change or add content with a protected mark or attribute. `details` has its place.',
    remedy: 'Change other content only, or let a user change the protected content.',
  },

  'mcp/tool-not-permitted': {
    status: 'PERMISSION_DENIED',
    meaning: 'The token of the agent does not permit the tool on any document, by its role or its policy.',
    remedy: 'Use a tool of `tools/list`, or create a token with another role or policy.',
  },
  'mcp/too-many-calls': {
    status: 'RESOURCE_EXHAUSTED',
    meaning: 'The agent runs the maximum number of tool calls at the same time.',
    remedy: 'Call the tool again when another call has ended.',
  },
  'mcp/timeout': {
    status: 'UNAVAILABLE',
    meaning: 'The tool call took too long. The server may still finish its last step.',
    remedy: 'Read the document to see what has changed, then call the tool again with less work.',
  },
  'mcp/document-too-large': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The editor has more text than an MCP tool reads.',
    remedy: 'Read the document with `/v2/crdt/get`.',
  },

  'limit/exceeded': {
    status: 'RESOURCE_EXHAUSTED',
    meaning: 'The call reached a limit. `details` names the limit, its value and its scope.',
    remedy:
      'Wait for `Retry-After` seconds if the header is present. Otherwise send less. The chapter [Limits](limits.md) names the option.',
  },

  'server/internal': {
    status: 'INTERNAL',
    meaning: 'The server has a bug. It logged the cause with the id of the request.',
    remedy: 'Report the request id to the operator, who finds the cause in the log of the server.',
  },
  'server/not-ready': {
    status: 'UNAVAILABLE',
    meaning: 'The server is starting, is stopping, or cannot reach its store. The message names the cause.',
    remedy: 'Send the call again after `Retry-After` seconds. Operators: check `/readyz`.',
  },
  'server/store-unavailable': {
    status: 'UNAVAILABLE',
    meaning: 'The store did not answer or did not accept the change.',
    remedy: 'Send the call again. It may have taken effect, so use an `idempotency-key`.',
  },
  'server/stopping': {
    status: 'UNAVAILABLE',
    meaning: 'The server stopped before the call was finished.',
    remedy: 'Send the call again. It may have taken effect, so use an `idempotency-key`.',
  },
  'server/background-failed': {
    status: 'UNAVAILABLE',
    meaning: 'A deletion or another task of the call failed. The server tries it again in the background.',
    remedy: 'Do nothing, or send the call again: it waits for the same task.',
  },

  'cluster/document-moved': {
    status: 'UNAVAILABLE',
    meaning:
      'The document moves from one node of the cluster to another, because a node has started or stopped.',
    remedy:
      'Send the call again after `Retry-After` seconds. It may have taken effect, so use an `idempotency-key`.',
  },
  'cluster/owner-unreachable': {
    status: 'UNAVAILABLE',
    meaning:
      'The node of the cluster that has the document does not answer. Another node takes its documents within 5 s if it has died.',
    remedy:
      'Send the call again after `Retry-After` seconds. It may have taken effect, so use an `idempotency-key`. Operators: check that the nodes reach each other at their `WEFT_NODE_URL`.',
  },

  'backup/nothing-stored': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The server keeps its data in memory only.',
    remedy: 'Start the server with another engine to make backups.',
  },
  'backup/busy': {
    status: 'RESOURCE_EXHAUSTED',
    meaning: 'The server is already making other backups.',
    remedy: 'Request the backup again after `Retry-After` seconds.',
  },

  'websocket/invalid-handshake': {
    status: 'INVALID_ARGUMENT',
    meaning: 'The upgrade request is not a valid websocket handshake.',
    remedy: 'Connect with a websocket library. Check that proxies forward upgrade headers.',
  },
  'websocket/unknown-path': {
    status: 'NOT_FOUND',
    meaning: 'There is no websocket at this path.',
    remedy: 'Connect to `/sync/{organizationId}/{documentId}/{editorId}`, or to `/hocuspocus`.',
  },

  'transport/invalid-request': {
    status: 'INVALID_ARGUMENT',
    meaning: 'A parameter or the body of a request to `/sync-http` is not valid.',
    remedy: 'Use the client class of Weft, or correct the part that the message names.',
  },
  'transport/message-too-large': {
    status: 'INVALID_ARGUMENT',
    httpCode: 413,
    meaning: 'The body of a POST to `/sync-http` is larger than one message may be. The session has ended.',
    remedy: 'Send smaller messages, or raise `maxMessageBytes`.',
  },
  'transport/unknown-session': {
    status: 'NOT_FOUND',
    meaning: 'The server does not have this session over HTTP: it has ended, or another node has it.',
    remedy:
      'Begin a session with a new id. Let the load balancer send all requests of a session to one node.',
  },
  'transport/other-user': {
    status: 'PERMISSION_DENIED',
    meaning: 'The session over HTTP belongs to another user or connection.',
    remedy: 'Send the token with which the session began, or another token of the same user.',
  },
  'transport/message-gap': {
    status: 'ABORTED',
    meaning:
      'The number of the first message leaves a gap after the last message that the server has received.',
    remedy: 'Send the messages from `received + 1` on.',
  },

  'location/ambiguous-document': {
    status: 'FAILED_PRECONDITION',
    meaning: 'Several organizations have a document of this id, and the call names none of them.',
    remedy: 'Add `organizationId`. `details.organizationIds` lists up to 30 of the organizations.',
  },
  'workspace/not-found': {
    status: 'NOT_FOUND',
    meaning: 'The workspace does not exist.',
    remedy: 'Check the workspace id.',
  },
  'api-key/not-found': {
    status: 'NOT_FOUND',
    meaning: 'The workspace does not have this API key.',
    remedy: 'List the keys with `/v2/workspace/apikeys/get`.',
  },
  'api-key/too-many': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The workspace has the maximum number of API keys.',
    remedy: 'Use an existing API key.',
  },
  'domain/too-many': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The API key would have more than the maximum number of domains.',
    remedy: 'Delete domains with `/v2/workspace/domains/delete`, or use a wildcard such as `*.example.com`.',
  },
  'domain/partly-changed': {
    status: 'INTERNAL',
    meaning:
      'Some domains existed before `add`, or did not exist before `delete`. The call changed the others.',
    remedy: 'Do nothing: `details` lists the changed and the skipped domains.',
  },

  'organization/not-found': {
    status: 'NOT_FOUND',
    meaning: 'The organization does not exist, or is being deleted.',
    remedy: 'Check `organizationId`. Create the organization with `/v2/organizations/add`.',
  },
  'organization/exists': {
    status: 'ALREADY_EXISTS',
    meaning: 'The organization exists, so `add` does not change it.',
    remedy: 'Change the organization with `/v2/organizations/update`.',
  },
  'organization/being-deleted': {
    status: 'ABORTED',
    meaning: 'The organization is being deleted.',
    remedy: 'Send the call again after the deletion.',
  },
  'organization/removal-in-progress': {
    status: 'ABORTED',
    meaning: 'The organization cannot be deleted while something in it is being deleted.',
    remedy: 'Send the call again after a moment.',
  },
  'deletion/not-found': {
    status: 'NOT_FOUND',
    meaning: 'The deletion was restored or purged, or its time has ended.',
    remedy: 'List the deletions with `/v2/workspace/deleted/get`.',
  },
  'deletion/in-progress': {
    status: 'ABORTED',
    meaning: 'Another call deletes, restores or purges this.',
    remedy: 'Send the call again after a moment.',
  },
  'deletion/id-exists': {
    status: 'FAILED_PRECONDITION',
    meaning: 'An id is in use again, so nothing was restored.',
    remedy: 'Delete the new resource with this id, then restore again.',
  },
  'deletion/no-parent': {
    status: 'FAILED_PRECONDITION',
    meaning:
      'The organization, folder or document is missing, or is nested too deep, so nothing was restored.',
    remedy: 'Restore or create the organization, the folder or the document first.',
  },
  'deletion/editor-changed': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The editor of the branch was pruned, migrated or deleted, so nothing was restored.',
    remedy: 'Purge the deletion.',
  },
  'folder/not-found': {
    status: 'NOT_FOUND',
    meaning: 'The folder does not exist in the organization.',
    remedy: 'Check `folderId`. Create the folder with `/v1/organizations/folders/add`.',
  },
  'folder/exists': {
    status: 'ALREADY_EXISTS',
    meaning: 'The folder exists, so `add` does not change it.',
    remedy: 'Change the folder with `/v1/organizations/folders/update`.',
  },
  'folder/being-deleted': {
    status: 'ABORTED',
    meaning: 'The folder is being deleted.',
    remedy: 'Send the call again after the deletion.',
  },
  'folder/too-many': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The organization would have more than the maximum number of folders.',
    remedy: 'Delete folders, or put documents into existing folders.',
  },
  'folder/too-deep': {
    status: 'INVALID_ARGUMENT',
    meaning: 'The folder, or a folder in it, would be below the maximum depth.',
    remedy: 'Choose a parent folder at a higher level.',
  },
  'folder/below-itself': {
    status: 'INVALID_ARGUMENT',
    meaning: 'The move would put the folder into itself.',
    remedy: 'Choose a parent folder that is not in the folder.',
  },
  'folder/root': {
    status: 'INVALID_ARGUMENT',
    meaning: 'The folder `root` stands for the organization itself, and cannot be added, changed or deleted.',
    remedy: 'Name another folder, or the organization.',
  },
  'folder/response-too-large': {
    status: 'FAILED_PRECONDITION',
    meaning: 'There are too many folders for one response.',
    remedy: 'Request one folder, with few levels below it.',
  },
  'document/not-found': {
    status: 'NOT_FOUND',
    meaning: 'The document does not exist in the organization, or is being deleted.',
    remedy:
      'Check `documentId` and `organizationId`. Create the document with `/v2/organizations/documents/add`, or its content with `/v2/crdt/add`.',
  },
  'document/exists': {
    status: 'ALREADY_EXISTS',
    meaning: 'The document exists, so `add` does not change it.',
    remedy: 'Change the document with `/v2/organizations/documents/update`.',
  },
  'document/being-deleted': {
    status: 'ABORTED',
    meaning: 'The document, its folder or its organization is being deleted.',
    remedy: 'Send the call again after the deletion.',
  },
  'document/disabled': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The document is disabled, so nothing can change it.',
    remedy: 'Enable it with `disabled: false` in `/v2/organizations/documents/update`.',
  },
  'document/damaged': {
    status: 'INTERNAL',
    meaning: 'The stored document is damaged.',
    remedy: 'The operator restores the document from a backup, or deletes it.',
  },
  'group/not-found': {
    status: 'NOT_FOUND',
    meaning: 'The user group does not exist in the organization.',
    remedy: 'Check the id. Create the group with `/v1/organizations/usergroups/add`.',
  },
  'group/user-not-found': {
    status: 'NOT_FOUND',
    meaning: 'The user is not in the group.',
    remedy: 'List the users of the group with `/v2/organizations/usergroups/get`.',
  },
  'group/too-many-of-user': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The user is in the maximum number of groups.',
    remedy: 'Remove the user from a group with `/v1/organizations/usergroups/users/delete`.',
  },
  'user/not-found': {
    status: 'NOT_FOUND',
    meaning: 'The organization, folder or document does not have this user.',
    remedy: 'List the users with `/v2/users/get`. Add the user with `/v2/users/add`.',
  },
  'user/no-role': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The user has no role on the organization itself, so there is no role to change.',
    remedy: 'Add the user to the organization with `/v2/users/add`.',
  },
  'activity/not-found': {
    status: 'NOT_FOUND',
    meaning: 'The document does not have this activity.',
    remedy: 'List the activities with `/v2/activities/get`.',
  },

  'crdt/no-content': {
    status: 'NOT_FOUND',
    meaning: 'The document exists, but this editor does not have content.',
    remedy:
      'Check `editorId`. Create the content with `upsert: true` in `/v2/crdt/update`, with `create: true` in `/v2/crdt/apply`, or with `/v2/crdt/add`.',
  },
  'crdt/content-exists': {
    status: 'ALREADY_EXISTS',
    meaning: 'The editor has content, so the call does not create it.',
    remedy: 'Change the content with `/v2/crdt/update`. For a copy, send `onConflict`.',
  },
  'crdt/root-not-found': {
    status: 'NOT_FOUND',
    meaning: 'No root of the document has the name in `contentKey`. `details.roots` lists the roots.',
    remedy:
      'Name one of `details.roots` as `contentKey`. To create a root in an editor that has others, send `newRoot: true` to ' +
      '`/v2/crdt/update`.',
  },
  'crdt/root-kind-mismatch': {
    status: 'INVALID_ARGUMENT',
    meaning: 'The root `contentKey` has another type than the request names.',
    remedy: 'Send the `type` that the message names, or another `contentKey`.',
  },
  'crdt/unsupported-content': {
    status: 'FAILED_PRECONDITION',
    meaning:
      'The root has content that its type cannot represent, such as text directly in an element. A write could hide or delete it. `details.path` is its place.',
    remedy: 'Change this root with an editor, or with an update in `/v2/crdt/apply`.',
  },
  'crdt/invalid-content-key': {
    status: 'INVALID_ARGUMENT',
    meaning: 'The `contentKey` is not valid.',
    remedy: 'Send a name that the message describes, for example `default`.',
  },
  'crdt/invalid-content': {
    status: 'INVALID_ARGUMENT',
    meaning: 'The member `data` is not content of the `type`. The message names the place.',
    remedy: 'Correct `data` at that place, or send another `type`.',
  },
  'crdt/schema-violation': {
    status: 'INVALID_ARGUMENT',
    meaning:
      'The content does not match the schema of the editor. `details.path` is the first place, and `details.allowed` has the alternatives there.',
    remedy: 'Send content that the schema allows, or attach another schema.',
  },
  'crdt/schema-attached': {
    status: 'FAILED_PRECONDITION',
    meaning:
      'Another schema is attached to the editor, and the content does not match the schema of the call. `details.attached` is the attached one.',
    remedy: 'Send the attached schema, or content that matches the new one.',
  },
  'schema/not-found': {
    status: 'NOT_FOUND',
    meaning: 'No preset and no schema of the API key has this name.',
    remedy: 'Store the schema with `/v2/crdt/schemas/set`, or send the name of a preset.',
  },
  'schema/name-taken': {
    status: 'INVALID_ARGUMENT',
    meaning: 'The name of the schema is that of a preset.',
    remedy: 'Choose another name.',
  },
  'schema/too-many': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The API key has too many schemas, or the document too many editors with a schema.',
    remedy: 'Delete schemas with `/v2/crdt/schemas/delete`, or divide the editors among several documents.',
  },
  'schema/invalid': {
    status: 'INVALID_ARGUMENT',
    meaning: 'The schema is malformed or exceeds a limit. `details.path` is the JSON pointer of the problem.',
    remedy: 'Correct the schema at that place.',
  },
  'schema/invalid-migration': {
    status: 'INVALID_ARGUMENT',
    meaning: 'A rule is invalid, or the schema has no such version. `details.path` has the place.',
    remedy: 'Correct the rule, or store the version with `/v2/crdt/schemas/set` first.',
  },
  'schema/migration-running': {
    status: 'FAILED_PRECONDITION',
    meaning: 'A migration of the schema is running.',
    remedy: 'Wait until `/v2/crdt/schemas/get` returns the status `done`.',
  },
  'crdt/content-limit': {
    status: 'INVALID_ARGUMENT',
    meaning: 'The content has too many values, is nested too deeply, or has too much formatting.',
    remedy: 'Divide the content among several editors. The message names the limit.',
  },
  'crdt/document-too-large': {
    status: 'INVALID_ARGUMENT',
    meaning: 'The document would be larger than `maxDocumentBytes`.',
    remedy: 'Divide the content among several editors, or raise `WEFT_MAX_DOCUMENT_BYTES`.',
  },
  'crdt/malformed-update': {
    status: 'INVALID_ARGUMENT',
    meaning: 'The bytes of `update` are not a Yjs update that the server accepts.',
    remedy: 'Send what `Y.encodeStateAsUpdate` returns (encoding V1), in base64.',
  },
  'crdt/update-incomplete': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The update depends on updates that the document does not have.',
    remedy:
      'Read the state vector with `/v2/crdt/get`, and send `Y.encodeStateAsUpdate(doc, stateVector)`, which contains ' +
      'all missing updates. If the editor was pruned since, load it again and make the change in it.',
  },
  'crdt/open-branches': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The editor is a branch or has open branches. A prune would separate them.',
    remedy: 'Merge or reject the branches in `details.branches`, then prune the editor.',
  },
  'crdt/open-streams': {
    status: 'FAILED_PRECONDITION',
    meaning: 'A stream writes to the editor. A prune would remove its place.',
    remedy: 'Prune the editor when the stream has ended.',
  },
  'crdt/too-many-prunes': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The editor was pruned too often.',
    remedy: 'Copy it to another editor with `/v2/crdt/copy`.',
  },
  'crdt/update-too-expensive': {
    status: 'RESOURCE_EXHAUSTED',
    meaning: 'Yjs would need too many steps to read the document with this update.',
    remedy: 'Send the content as new edits, for example with `/v2/crdt/update`.',
  },
  'crdt/document-expensive': {
    status: 'UNAVAILABLE',
    meaning: 'The document is expensive to open, and a thread is preparing it.',
    remedy: 'Send the call again after `Retry-After` seconds.',
  },
  'crdt/document-changed': {
    status: 'ABORTED',
    meaning: 'Clients changed the document each time the server tried, or the document was deleted.',
    remedy: 'Send the call again.',
  },
  'crdt/invalid-edit': {
    status: 'INVALID_ARGUMENT',
    meaning: 'An edit is not complete, or contradicts itself. The message names the edit and the member.',
    remedy: 'Correct the member that the message names.',
  },
  'crdt/edit-not-supported': {
    status: 'INVALID_ARGUMENT',
    meaning:
      'The root has content of a kind for which the server does not support this edit, target or quote.',
    remedy: 'Read the type of the content with `/v2/crdt/get`, and send an edit for this type.',
  },
  'crdt/target-not-found': {
    status: 'FAILED_PRECONDITION',
    meaning:
      'The document does not contain the target of an edit or the quote of an anchor. `details.candidates` has similar places.',
    remedy: 'Send one of the candidates, or read the document again.',
  },
  'crdt/target-ambiguous': {
    status: 'FAILED_PRECONDITION',
    meaning:
      'The document contains the target of an edit or the quote of an anchor several times. `details.candidates` has the places.',
    remedy: 'Send more of the text around the target as `before` and `after`, or `occurrence`.',
  },
  'crdt/patch-failed': {
    status: 'FAILED_PRECONDITION',
    meaning: 'A `test` of a patch has failed, or an operation of a patch has a path that does not exist.',
    remedy: 'Read the document again, and compute the patch from its present content.',
  },
  'crdt/invalid-stream': {
    status: 'INVALID_ARGUMENT',
    meaning:
      'A line of a stream is not valid, or the lines are in a wrong order. The message states the problem.',
    remedy: 'Send the lines that `/docs/agents` describes. Open the stream again to continue it.',
  },
  'crdt/stream-limit': {
    status: 'INVALID_ARGUMENT',
    meaning:
      'A stream has too many bytes or takes too long: `details.limit` is the limit. Or one of its blocks, or a row of line breaks, is too long.',
    remedy: 'Divide the content among several streams, or raise the limit. Write a long block with an edit.',
  },
  'crdt/stream-gap': {
    status: 'FAILED_PRECONDITION',
    meaning:
      'A piece of a stream begins after the end of the content that the server has. `details.received` is the number of UTF-16 units that it has.',
    remedy: 'Open the stream again, and continue at `received`.',
  },
  'crdt/stream-conflict': {
    status: 'ALREADY_EXISTS',
    meaning: 'Another stream has the same `streamId`, but a different opening.',
    remedy: 'Send the same opening to continue the stream, or another `streamId` for a new one.',
  },
  'crdt/stream-taken-over': {
    status: 'ABORTED',
    meaning: 'Another connection has opened the stream and continues it. A stream has one writer.',
    remedy: 'Stop this connection.',
  },
  'crdt/stream-place-removed': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The place at which the stream inserts its content was deleted or pruned.',
    remedy: 'Read the document again, and open a new stream with another `streamId`.',
  },
  'crdt/version-conflict': {
    status: 'ABORTED',
    meaning:
      'The document has changed since the version in `ifVersion`. `details.version` is its current version.',
    remedy: 'Read the document, apply your change to it, and send the new version.',
  },
  'crdt/overlap': {
    status: 'ABORTED',
    meaning:
      'Others have also changed the same words or values, and `onOverlap` is `fail`. `details.overlaps` has all versions of each place.',
    remedy:
      'Read the document again, and send the change for the new version, or choose a side with `onOverlap`.',
  },
  'crdt/base-version-too-old': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The server does not have the state at `baseVersion`.',
    remedy: 'Read the document again, and send the new version.',
  },
  'crdt/version-too-old': {
    status: 'FAILED_PRECONDITION',
    meaning:
      'The server cannot rebuild this version. `details.oldest` is the oldest version that the log contains.',
    remedy:
      'Send `details.oldest`, a later version, or the id of a saved version (`/v2/crdt/versions/list`).',
  },
  'crdt/attribution-disabled': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The workspace does not keep the authors of changes.',
    remedy: 'Enable attribution with `/v2/workspace/attribution/update`. It covers the changes from then on.',
  },
  'crdt/too-many-editors': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The document has too many editors for one response.',
    remedy: 'Name an `editorId`.',
  },
  'version/not-found': {
    status: 'NOT_FOUND',
    meaning: 'The editor does not have this saved version.',
    remedy: 'List the versions with `/v2/crdt/versions/list`.',
  },
  'version/too-many': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The editor has the maximum number of saved versions.',
    remedy: 'Delete versions with `/v2/crdt/versions/delete`.',
  },
  'branch/not-found': {
    status: 'NOT_FOUND',
    meaning: 'The editor does not have this branch.',
    remedy: 'List the branches with `/v2/crdt/branches/list`.',
  },
  'branch/exists': {
    status: 'ALREADY_EXISTS',
    meaning:
      'The editor has a branch with this name, or the document has content under the editor id of the branch.',
    remedy: 'Choose another name, or delete the branch with `/v2/crdt/branches/delete`.',
  },
  'branch/invalid-name': {
    status: 'INVALID_ARGUMENT',
    meaning: 'The name contains `@`, or the editor id of the branch would not be a valid id.',
    remedy: 'Use a shorter name without `@`.',
  },
  'branch/of-branch': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The editor is a branch itself, and a branch has no branches.',
    remedy: 'Create the branch from the editor that the first branch follows.',
  },
  'branch/too-many': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The document has the maximum number of branches.',
    remedy: 'Delete branches with `/v2/crdt/branches/delete`.',
  },
  'branch/decided': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The branch is merged or rejected, so it cannot change any more.',
    remedy: 'Create another branch.',
  },

  'presence/too-many-users': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The document would have too many users without a websocket.',
    remedy: 'Delete users with `/v2/presence/delete`, or let them connect.',
  },
  'comment/annotation-not-found': {
    status: 'NOT_FOUND',
    meaning: 'The document does not have this annotation.',
    remedy: 'List the annotations with `/v2/commentannotations/get`.',
  },
  'comment/not-found': {
    status: 'NOT_FOUND',
    meaning: 'The annotation does not have this comment.',
    remedy: 'List the comments with `/v2/commentannotations/comments/get`.',
  },
  'comment/annotation-id-taken': {
    status: 'ALREADY_EXISTS',
    meaning: 'Another annotation of the organization already has this id.',
    remedy: 'Choose another id, or change the annotation with `/v2/commentannotations/update`.',
  },
  'comment/id-taken': {
    status: 'ALREADY_EXISTS',
    meaning: 'Another comment of the annotation already has this id.',
    remedy: 'Choose another id, or change the comment with `/v2/commentannotations/comments/update`.',
  },
  'comment/too-many': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The annotation has too many comments, or a copy too many annotations.',
    remedy: 'Start another annotation, or copy without comments.',
  },
  'comment/no-suggestion': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The annotation has no suggestion to accept or reject.',
    remedy: 'Add a suggestion with `suggestion.content` in `/v2/commentannotations/update`.',
  },
  'comment/reaction-not-found': {
    status: 'NOT_FOUND',
    meaning: 'The comment does not have this reaction.',
    remedy: 'List the comments and their reactions with `/v2/commentannotations/comments/get`.',
  },
  'comment/reaction-exists': {
    status: 'ALREADY_EXISTS',
    meaning:
      'A reaction of the comment already has this id, or the user has already reacted in the same way.',
    remedy: 'Do nothing, or choose another id.',
  },
  'comment/too-many-reactions': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The reactions of the comment would exceed their maximum number or size.',
    remedy: 'Delete reactions with `/v2/commentannotations/comments/reactions/delete`.',
  },
  'notification/not-found': {
    status: 'NOT_FOUND',
    meaning: 'The organization does not have this notification, or it does not match the filters.',
    remedy: 'List the notifications with `/v2/notifications/get`.',
  },
  'notification/not-addressed': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The notification is not addressed to a user in `readByUserIds`.',
    remedy: 'Name only recipients of the notification.',
  },
  'notification/too-many-users': {
    status: 'INVALID_ARGUMENT',
    meaning: 'The notification names too many users.',
    remedy: 'Send several notifications.',
  },

  'memory/judgment-not-found': {
    status: 'NOT_FOUND',
    meaning: 'There is no such judgment.',
    remedy: 'List the judgments with `/v2/memory/judgments/query`.',
  },

  'callback/load-failed': {
    status: 'UNAVAILABLE',
    meaning: 'The editor does not exist, and the callback `load` did not return its content.',
    remedy: 'Correct the callback; the message contains the reason. Then try again.',
  },
  'callback/not-configured': {
    status: 'NOT_FOUND',
    meaning: 'The API key has no callbacks.',
    remedy: 'Configure them with `/v2/workspace/callbacks/update`.',
  },

  'feed/disabled': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The change feed of the API key is off.',
    remedy: 'Call `/v2/workspace/feed/update` with `enabled: true`. The feed has the events from then on.',
  },
  'feed/cursor-expired': {
    status: 'FAILED_PRECONDITION',
    meaning:
      'The feed no longer has the events after the cursor, was turned off and on again, or was restored with the store.',
    remedy:
      'Get a cursor with `from: "now"`, read all documents again, and continue with that cursor. To prevent this, read ' +
      'more often or raise `keepSeconds`.',
  },
  'feed/cursor-unknown': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The feed has never returned the cursor, or the store was replaced by another copy since then.',
    remedy: 'Get a cursor with `from: "now"`, read all documents again, and continue with that cursor.',
  },

  'webhook/never-configured': {
    status: 'FAILED_PRECONDITION',
    meaning: 'Advanced webhooks of the API key were never configured.',
    remedy: 'Call `/v2/workspace/advancedwebhookconfig/update` with `isEnabled: true`.',
  },
  'webhook/disabled': {
    status: 'FAILED_PRECONDITION',
    meaning: 'Advanced webhooks of the API key are disabled.',
    remedy: 'Call `/v2/workspace/advancedwebhookconfig/update` with `isEnabled: true`.',
  },
  'webhook/public-key-missing': {
    status: 'INVALID_ARGUMENT',
    meaning: 'The configuration asks for encryption and has no public key.',
    remedy: 'Send `publicKey` with `encryptData`.',
  },
  'webhook/endpoint-not-found': {
    status: 'NOT_FOUND',
    meaning: 'There is no endpoint with this id or uid.',
    remedy: 'List the endpoints with `/v2/workspace/advancedwebhook/endpoints/get`.',
  },
  'webhook/endpoint-disabled': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The endpoint is disabled, so the server sends nothing to it.',
    remedy: 'Enable it with `disabled: false` in `/v2/workspace/advancedwebhook/endpoints/update`.',
  },
  'webhook/too-many-endpoints': {
    status: 'FAILED_PRECONDITION',
    meaning: 'The API key has the maximum number of endpoints.',
    remedy: 'Delete an endpoint with `/v2/workspace/advancedwebhook/endpoints/delete`.',
  },
  'webhook/uid-taken': {
    status: 'ALREADY_EXISTS',
    meaning: 'Another endpoint has this `uid`, or has it as its id.',
    remedy: 'Choose another `uid`, or update the existing endpoint.',
  },
  'webhook/message-not-found': {
    status: 'NOT_FOUND',
    meaning: 'The endpoint does not have this message.',
    remedy: 'List the messages with `/v2/workspace/advancedwebhook/deliveries/get`.',
  },
} as const satisfies Readonly<Record<string, ErrorCause>>

export type ErrorCode = keyof typeof errorCodes

export type CodeOf<S extends Status> = {
  [Code in ErrorCode]: (typeof errorCodes)[Code]['status'] extends S ? Code : never
}[ErrorCode]

/** Returns the description of a code. */
export const causeOf = (code: ErrorCode): ErrorCause => errorCodes[code]
