import type { ErrorCode } from '../core/base/error-codes.ts'

interface ErrorExample {
  readonly message: string
  /** Members of `details` in addition to `code`. */
  readonly details?: Readonly<Record<string, unknown>>
  /** Id of the item whose result has the code; only for codes that occur in the results of items. */
  readonly item?: string
}

/** One response for each code, as the server sends it. */
export const errorExamples: Readonly<Record<ErrorCode, ErrorExample>> = {
  'request/malformed': { message: 'the request is not valid HTTP; use an HTTP library' },
  'request/expectation-unsupported': { message: 'the Expect header can only be 100-continue; leave it out' },
  'request/headers-too-large': { message: 'there are more than 200 headers; send fewer' },
  'request/chunk-extensions-too-large': { message: 'the chunk extensions are too large; send none' },
  'request/timeout': { message: 'the request took too long; try again' },
  'request/unknown-path': { message: 'there is nothing at this path; /docs/reference lists all paths' },
  'request/method': { message: 'the method must be POST' },
  'request/content-type': {
    message: 'the content type must be application/json (with charset utf-8, if any)',
  },
  'request/body-too-large': {
    message: 'the body is larger than 16777216 bytes: split the call, or raise WEFT_MAX_BODY_BYTES',
    details: { limit: 'maxBodyBytes', value: 16_777_216, scope: 'call' },
  },
  'request/invalid-json': {
    message: 'the body is not JSON at 1:16: expected a value',
    details: { line: 1, column: 16 },
  },
  'request/too-deep': { message: 'the body is nested more than 202 levels deep: flatten it' },
  'request/too-many-values': {
    message: 'the body has more than 1500000 arrays, objects and commas: split the call',
  },
  'request/invalid-member': {
    message: '/data/documentId is required',
    details: { issues: [{ path: '/data/documentId', message: 'is required' }] },
  },
  'request/unknown-member': {
    message: '/data/ifVersoin is unknown (did you mean ifVersion?)',
    details: { issues: [{ path: '/data/ifVersoin', message: 'is unknown (did you mean ifVersion?)' }] },
  },
  'request/repeated-item': { item: 'remark-1', message: 'a comment is listed more than once' },
  'request/too-many-users': {
    item: 'signed-off',
    message: 'the activity names more than 100 users; name fewer',
  },
  'request/page-token': { message: 'pageToken does not belong to this query; start again without it' },
  'request/conflict': { message: 'other calls keep changing the same records; try again' },

  'idempotency/invalid-key': {
    message: 'idempotency-key must be one key of 1 to 255 visible ASCII characters',
  },
  'idempotency/key-reused': {
    message: 'this idempotency-key was already used for /v2/crdt/update; use a new key for each new call',
  },
  'idempotency/in-progress': {
    message: 'the first call with this idempotency-key is still under way; try again',
    details: { outcome: 'running' },
  },
  'idempotency/outcome-unknown': {
    message:
      'the outcome of the first call with this idempotency-key is unknown; check the result, then retry with a new key',
    details: { outcome: 'unknown' },
  },
  'idempotency/response-not-kept': {
    message:
      'the call with this idempotency-key was executed, but its response was not kept; read the result with another ' +
      'operation',
    details: { outcome: 'done', httpCode: 200 },
  },

  'auth/missing-credentials': {
    message: 'the API key is missing: send the header x-service-api-key',
  },
  'auth/invalid-credentials': {
    message: 'the API key or the auth token is not valid; check both headers',
  },
  'auth/credentials-mismatch': {
    message: 'the credentials in the body differ from those in the headers; send the same ones in both',
  },
  'auth/origin-not-allowed': {
    message: 'pages of this origin may not use the API key; allow its domain with /v2/workspace/domains/add',
  },
  'auth/loopback-only': {
    message: 'without authentication, only pages served from this machine may connect',
  },
  'auth/admin-token-unset': { message: 'this server has no admin token; start it with WEFT_ADMIN_TOKEN' },
  'auth/metrics-token': { message: 'metrics need the metrics token as bearer token' },
  'auth/token-too-long': {
    message: 'the token would be longer than 24576 characters: name fewer resources',
  },
  'auth/too-many-results': {
    message: 'the number of users times the number of resources is more than 5000; split the call',
  },
  'auth/resource-not-found': {
    message: 'some of the named resources do not exist; see does_not_exist in details',
  },

  'agent/invalid-token': { message: 'the token has expired', details: { reason: 'expired' } },
  'agent/token-required': {
    message: 'the token is not the token of an agent; create the token with agent: true',
  },
  'agent/token-unchecked': {
    message: 'the backend could not decide about access to the document; try again',
  },
  'agent/operation-not-allowed': {
    message: 'agents must not call /v2/crdt/delete; call it from your backend with an API key',
  },
  'agent/role-required': {
    message: 'the agent needs the role editor on the document, or suggester in a branch that it has created',
    details: { role: 'viewer', required: 'editor' },
  },
  'agent/other-user': {
    message: 'an agent acts only as itself: leave out /data/userId, which names another user',
  },
  'agent/delete-not-allowed': {
    message: 'the policy no-delete forbids the agent to delete content; insert content only',
  },

  'mcp/tool-not-permitted': { message: 'the token does not permit the tool edit_document' },
  'mcp/too-many-calls': { message: 'at most 8 calls at the same time' },
  'mcp/timeout': { message: 'the call took more than 60 s' },
  'mcp/document-too-large': { message: 'the editor has too much content for this tool' },

  'limit/exceeded': {
    message:
      'too many calls with this API key: the limit callsPerKey is 400 per second; try again after 1 s ' +
      '(Retry-After), call less often, or have the operator raise WEFT_CALLS_PER_KEY',
    details: { limit: 'callsPerKey', value: 400, scope: 'apiKey' },
  },

  'server/internal': { message: 'internal error; request id 6c1f2f7e-8a55-4f0e-9d3c-0b7a1e2f3d4c' },
  'server/not-ready': { message: 'the store is not available; try again' },
  'server/store-unavailable': { message: 'the store is not available; try again' },
  'server/stopping': { message: 'the server is stopping; try again' },
  'server/background-failed': { message: 'the work failed; the server retries it in the background' },

  'backup/nothing-stored': { message: 'this server stores nothing; use an engine other than memory' },
  'backup/busy': { message: 'other backups are running; try again' },
  'backup/too-slow': { message: 'the reader of the backup is too slow; try again' },

  'websocket/invalid-handshake': {
    message: 'invalid websocket handshake: missing or invalid sec-websocket-key header',
  },
  'websocket/unknown-path': {
    message:
      'there is no websocket at this path; connect to /sync/{organizationId}/{documentId}/{editorId} or /hocuspocus',
  },

  'transport/invalid-request': { message: 'session must be 32 hexadecimal digits' },
  'transport/message-too-large': { message: 'the message is larger than 16777216 bytes; split the change' },
  'transport/unknown-session': { message: 'unknown session; connect again' },
  'transport/other-user': { message: 'the session belongs to another user; begin another session' },
  'transport/message-gap': {
    message: 'the messages before number 8 are missing; send them first',
    details: { received: 5 },
  },

  'location/ambiguous-document': {
    message: '2 organizations have a document of this id: add organizationId',
    details: { organizationIds: ['acme', 'globex'] },
  },
  'workspace/not-found': { message: 'the workspace does not exist; check its id' },
  'api-key/not-found': { message: 'the API key does not exist; see /v2/workspace/apikeys/get' },
  'api-key/too-many': {
    message: 'the workspace has 1000 API keys, and can have no more; use one of them',
  },
  'domain/too-many': { message: 'an API key has at most 1000 domains; delete some' },
  'domain/partly-changed': {
    message: 'domains that existed already were skipped',
    details: { domainsAdded: ['new.example.com'], skippedDomains: ['example.com'] },
  },

  'organization/not-found': {
    message: 'the organization does not exist; create it with /v2/organizations/add',
  },
  'organization/exists': { item: 'acme', message: 'the organization exists already' },
  'organization/being-deleted': { message: 'the organization is being deleted; try again' },
  'organization/removal-in-progress': {
    message: 'something in the organization is still being removed; try again',
  },
  'folder/not-found': { message: 'the folder does not exist; check folderId' },
  'folder/exists': { item: 'reports', message: 'the folder exists already' },
  'folder/being-deleted': { item: 'reports', message: 'the folder is being deleted; try again' },
  'folder/too-many': { item: 'reports', message: 'an organization has at most 10000 folders; delete some' },
  'folder/too-deep': {
    item: 'reports',
    message: 'folders are at most 32 deep; choose a higher parent folder',
  },
  'folder/below-itself': { item: 'reports', message: 'a folder cannot be moved below itself' },
  'folder/root': { message: 'the folder root cannot be deleted; name another' },
  'folder/response-too-large': {
    message:
      'a folder with its subfolders would have more than 16777216 bytes; request fewer levels, or all folders, which ' +
      'have no limit',
  },
  'document/not-found': {
    message: 'the document does not exist: "report"; add it with /v2/organizations/documents/add',
  },
  'document/exists': { item: 'report', message: 'the document exists already' },
  'document/being-deleted': { message: 'the document is being deleted; try again' },
  'document/disabled': { message: 'the document is disabled; enable it to change it' },
  'document/damaged': { message: 'the stored document is damaged; restore a backup' },
  'group/not-found': { message: 'the group does not exist; check its id' },
  'group/user-not-found': { item: 'ann', message: 'is not in the group' },
  'group/too-many-of-user': { item: 'ann', message: 'is already in 200 groups, the maximum' },
  'user/not-found': { item: 'ann', message: 'there is no such user of the document' },
  'user/no-role': {
    item: 'ann',
    message: 'has no role on the organization itself: add the user to it first',
  },
  'activity/not-found': { item: 'signed-off', message: 'there is no such activity of the document' },

  'crdt/no-content': {
    message:
      'there is no CRDT data for this editor id; create it with /v2/crdt/add, or with upsert: true in /v2/crdt/update',
  },
  'crdt/content-exists': { message: 'this editor id has CRDT data: use /v2/crdt/update' },
  'crdt/root-not-found': {
    message: 'the document has no root "default"; its roots are "content", "title"',
    details: { roots: ['content', 'title'] },
  },
  'crdt/root-kind-mismatch': {
    message:
      'the content at contentKey "content" is of type "text", not "array"; send that type, or another contentKey',
  },
  'crdt/unsupported-content': {
    message:
      'the root "default" has text directly in an element at /0/0, which content of type "xml" cannot represent; change it with an editor or with /v2/crdt/apply',
    details: { path: '/0/0', type: 'xml' },
  },
  'crdt/invalid-content-key': { message: 'contentKey must be well-formed Unicode' },
  'crdt/invalid-content': { message: 'data must be a string for type "text", not a number' },
  'crdt/schema-violation': {
    message:
      'the content does not match the schema "tiptap" at /doc/h2[0]: the schema has no node "h2"; allowed: "paragraph", "heading"',
    details: {
      path: '/doc/h2[0]',
      problem: 'the schema has no node "h2"',
      allowed: ['paragraph', 'heading'],
      schema: 'tiptap',
    },
  },
  'crdt/schema-attached': {
    message:
      'the schema "tiptap" is attached to the editor, and the content does not match the schema "blocknote" at /doc/paragraph[0]: "paragraph" is not allowed here; allowed: "blockGroup"',
    details: { attached: 'tiptap', schema: 'blocknote', path: '/doc/paragraph[0]' },
  },
  'schema/not-found': {
    message: 'there is no schema "article"; store it with /v2/crdt/schemas/set, or send the name of a preset',
  },
  'schema/name-taken': { message: '"tiptap" is the name of a preset; choose another name' },
  'schema/too-many': { message: 'an API key has at most 100 schemas; delete some' },
  'schema/invalid': {
    message:
      'invalid schema at /nodes/doc/content: "blok" is not a node or a group; expected names from /nodes',
    details: { path: '/nodes/doc/content' },
  },
  'crdt/content-limit': { message: 'data must have at most 200000 values; it has more' },
  'crdt/document-too-large': {
    message:
      'the content of an editor has at most 67108864 bytes; this content would have 70254592: divide it among several editors',
    details: { limit: 'maxDocumentBytes', value: 67_108_864, scope: 'document' },
  },
  'crdt/malformed-update': { message: 'update must be base64' },
  'crdt/update-incomplete': {
    message:
      'the update depends on updates that the document does not have: encode it against the state vector of the document',
  },
  'crdt/update-too-expensive': {
    message:
      'the update is too expensive to integrate: more than 20000000 steps; send its content as new edits',
    details: { limit: 'integrationSteps', value: 20_000_000, scope: 'document' },
  },
  'crdt/document-expensive': {
    message: 'the document is expensive to open and is being prepared; try again',
  },
  'crdt/document-changed': { message: 'the document has moved on; try again' },
  'crdt/invalid-edit': {
    message: 'edits[0] must have exactly one of replace, insert, remove, mark, attributes, patch, text',
  },
  'crdt/edit-not-supported': {
    message: 'edits[0]: a patch needs a map or an array, and the root is a text; send another edit',
  },
  'crdt/target-not-found': {
    message:
      'edits[0]: the document does not contain the text "quick red fox"; send one of details.candidates, or read the document again',
    details: {
      edit: 0,
      candidates: [{ quote: 'quick brown fox', before: 'The ', after: ' jumps over the lazy dog.' }],
    },
  },
  'crdt/target-ambiguous': {
    message: 'edits[0]: the document contains the text "fox" 2 times; send before, after or occurrence',
    details: {
      edit: 0,
      candidates: [
        { quote: 'fox', before: 'The quick brown ', after: ' jumps over the lazy dog.' },
        { quote: 'fox', before: 'Later, the ', after: ' sleeps.' },
      ],
    },
  },
  'crdt/patch-failed': {
    message:
      'edits[0].patch[1]: cannot replace "/tasks/7": the array at "/tasks" has 3 elements, but not "/tasks/7"; read the document again',
    details: { edit: 0 },
  },
  'crdt/invalid-stream': { message: 'line 4 of the stream must have exactly one of text, end, withdraw' },
  'crdt/stream-limit': {
    message: 'the content of the stream has more than 4194304 bytes; divide it among several streams',
    details: { limit: 'streamBytes', value: 4_194_304, scope: 'call' },
  },
  'crdt/stream-gap': {
    message: 'the piece begins at 120, but the server has 96 units of the content; continue at 96',
    details: { received: 96 },
  },
  'crdt/stream-conflict': {
    message: 'the stream "summary-17" has another opening; send the same one, or another streamId',
  },
  'crdt/stream-taken-over': { message: 'another connection continues the stream; end this one' },
  'crdt/stream-place-removed': {
    message: 'the place of the stream was deleted; read the document again, and open a new stream',
  },
  'crdt/version-conflict': {
    message: 'the document has moved on from ifVersion; read it again and send its version',
    details: { version: '1.42' },
  },
  'crdt/overlap': {
    message:
      'others have also changed the same words or values, and nothing was written: read the document again, or choose a side with onOverlap',
    details: { overlaps: [{ path: '', base: '100', theirs: '250', mine: '170', kept: 'theirs' }] },
  },
  'crdt/base-version-too-old': { message: 'baseVersion is unknown or too old: read the document again' },
  'crdt/version-too-old': {
    message:
      'the version is unknown or too old; the oldest version that the log can rebuild is 1.40: send a later version, or a saved version',
    details: { oldest: '1.40' },
  },
  'crdt/attribution-disabled': {
    message: 'attribution is disabled in this workspace; enable it with /v2/workspace/attribution/update',
  },
  'crdt/too-many-editors': { message: 'the document has more than 100 editors: name an editorId' },
  'version/not-found': { message: 'there is no such version of this editor; see versions/list' },
  'version/too-many': { message: 'an editor has at most 1000 versions: delete some' },
  'version/content-unavailable': {
    message: 'the object storage of saved versions is not available; try again',
  },
  'branch/not-found': { message: 'the editor has no branch "draft"; see /v2/crdt/branches/list' },
  'branch/exists': { message: 'the editor has a branch "draft"; choose another name' },
  'branch/invalid-name': { message: 'the name of a branch must not contain "@": "a@b"' },
  'branch/of-branch': {
    message:
      'the editor "main@draft" is a branch, and a branch has no branches; name the editor that it follows',
  },
  'branch/too-many': { message: 'a document has at most 10000 branches: delete some' },
  'branch/decided': { message: 'the branch "draft" is merged; create another branch' },

  'presence/too-many-users': {
    message: 'a document has at most 500 users who are not connected; delete some',
    details: { limit: 'virtualUsersPerDocument', value: 500, scope: 'document' },
  },
  'comment/annotation-not-found': { message: 'the annotation does not exist; check annotationId' },
  'comment/not-found': { message: 'the comment does not exist; check commentId' },
  'comment/annotation-id-taken': { item: 'remark-1', message: 'the annotation id is used already' },
  'comment/id-taken': { item: 'comment-1', message: 'the comment id is used already' },
  'comment/too-many': {
    item: 'comment-1',
    message: 'an annotation has at most 1000 comments; add another annotation',
  },
  'comment/no-suggestion': { item: 'remark-1', message: 'the annotation suggests nothing' },
  'comment/reaction-not-found': { item: 'reaction-1', message: 'there is no such reaction' },
  'comment/reaction-exists': { item: 'reaction-1', message: 'the reaction id is used already' },
  'comment/too-many-reactions': { item: 'reaction-1', message: 'a comment has at most 100 reactions' },
  'notification/not-found': { item: 'shared-1', message: 'there is no such notification' },
  'notification/not-addressed': { item: 'shared-1', message: 'it is not addressed to bob' },
  'notification/too-many-users': {
    message: 'the notification names more than 100 users; send several notifications',
  },

  'memory/judgment-not-found': { item: 'judgment-1', message: 'there is no such judgment' },
  'callback/load-failed': {
    message: 'the callback load failed: the callback answered 500; try again',
  },
  'callback/not-configured': {
    message: 'the API key has no callbacks: configure them with /v2/workspace/callbacks/update',
  },
  'feed/disabled': { message: 'the feed is off; enable it with /v2/workspace/feed/update' },
  'feed/cursor-expired': {
    message: 'the feed no longer has the events after this cursor; begin again with from: "now"',
  },
  'feed/cursor-unknown': { message: 'the feed does not know this cursor; begin again with from: "now"' },
  'webhook/never-configured': {
    message:
      'advanced webhooks were never configured: begin with isEnabled true in advancedwebhookconfig/update',
  },
  'webhook/disabled': {
    message: 'advanced webhooks are disabled: set isEnabled in advancedwebhookconfig/update',
  },
  'webhook/public-key-missing': { message: 'encryptData needs a publicKey' },
  'webhook/endpoint-not-found': { message: 'the endpoint does not exist; check its id' },
  'webhook/endpoint-disabled': { message: 'the endpoint is disabled; enable it first' },
  'webhook/too-many-endpoints': { message: 'an API key has at most 100 endpoints; delete some' },
  'webhook/uid-taken': { message: 'another endpoint has that uid, or that id; choose another' },
  'webhook/message-not-found': {
    message: 'there is no such message of the endpoint; see advancedwebhook/deliveries/get',
  },
}
