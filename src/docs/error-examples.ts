import type { ErrorCode } from '../core/base/error-codes.ts'

export interface ErrorExample {
  readonly message: string
  /** Members of `details` in addition to `code`. */
  readonly details?: Readonly<Record<string, unknown>>
  /** Id of the item whose result has the code; only for codes that occur in the results of items. */
  readonly item?: string
}

/** One response for each code that has more details than the code, or that comes in the result of an item. */
export const errorExamples: Readonly<Partial<Record<ErrorCode, ErrorExample>>> = {
  'request/body-too-large': {
    message: 'the body is larger than 16777216 bytes: split the call, or raise WEFT_MAX_BODY_BYTES',
    details: { limit: 'maxBodyBytes', value: 16_777_216, scope: 'call' },
  },
  'request/invalid-json': {
    message: 'the body is not JSON at 1:16: expected a value',
    details: { line: 1, column: 16 },
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
  'agent/invalid-token': { message: 'the token has expired', details: { reason: 'expired' } },
  'agent/role-required': {
    message: 'the caller needs the role editor on the document, or suggester in a branch that it has created',
    details: { role: 'viewer', required: 'editor' },
  },
  'agent/protected-content': {
    message:
      'an agent must not change or move content that "approved" protects: "100 euros" at /0/0 of "default"; leave it as it is, and change other content only',
    details: { contentKey: 'default', path: '/0/0', name: 'approved', text: '100 euros' },
  },
  'limit/exceeded': {
    message:
      'too many calls with this API key: the limit callsPerKey is 400 per second; try again after 1 s ' +
      '(Retry-After), call less often, or have the operator raise WEFT_CALLS_PER_KEY',
    details: { limit: 'callsPerKey', value: 400, scope: 'apiKey' },
  },
  'transport/message-gap': {
    message: 'the messages before number 8 are missing; send them first',
    details: { received: 5 },
  },
  'location/ambiguous-document': {
    message: '2 organizations have a document of this id: add organizationId',
    details: { organizationIds: ['acme', 'globex'] },
  },
  'domain/partly-changed': {
    message: 'domains that existed already were skipped',
    details: { domainsAdded: ['new.example.com'], skippedDomains: ['example.com'] },
  },
  'organization/exists': { item: 'acme', message: 'the organization exists already' },
  'folder/exists': { item: 'reports', message: 'the folder exists already' },
  'folder/being-deleted': { item: 'reports', message: 'the folder is being deleted; try again' },
  'folder/too-many': { item: 'reports', message: 'an organization has at most 10000 folders; delete some' },
  'folder/too-deep': {
    item: 'reports',
    message: 'folders are at most 32 deep; choose a higher parent folder',
  },
  'folder/below-itself': { item: 'reports', message: 'a folder cannot be moved below itself' },
  'document/exists': { item: 'report', message: 'the document exists already' },
  'group/user-not-found': { item: 'ann', message: 'is not in the group' },
  'group/too-many-of-user': { item: 'ann', message: 'is already in 200 groups, the maximum' },
  'user/not-found': { item: 'ann', message: 'there is no such user of the document' },
  'user/no-role': {
    item: 'ann',
    message: 'has no role on the organization itself: add the user to it first',
  },
  'activity/not-found': { item: 'signed-off', message: 'there is no such activity of the document' },
  'crdt/root-not-found': {
    message: 'the document has no root "default"; its roots are "content", "title"',
    details: { roots: ['content', 'title'] },
  },
  'crdt/unsupported-content': {
    message:
      'the root "default" has text directly in an element at /0/0, which content of type "xml" cannot represent; change it with an editor or with /v2/crdt/apply',
    details: { path: '/0/0', type: 'xml' },
  },
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
  'schema/invalid': {
    message:
      'invalid schema at /nodes/doc/content: "blok" is not a node or a group; expected names from /nodes',
    details: { path: '/nodes/doc/content' },
  },
  'schema/invalid-migration': {
    message: 'invalid rule at rules[1]: rules[0] applies to its result; use two versions of the schema',
    details: { path: '/rules/1' },
  },
  'crdt/document-too-large': {
    message:
      'the content of an editor has at most 67108864 bytes; this content would have 70254592: divide it among several editors',
    details: { limit: 'maxDocumentBytes', value: 67_108_864, scope: 'document' },
  },
  'crdt/open-branches': {
    message: 'the editor is a branch or has open branches; decide them first',
    details: { branches: ['draft'] },
  },
  'crdt/update-too-expensive': {
    message:
      'the update is too expensive to integrate: more than 20000000 steps; send its content as new edits',
    details: { limit: 'integrationSteps', value: 20_000_000, scope: 'document' },
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
  'crdt/stream-limit': {
    message: 'the content of the stream has more than 4194304 bytes; divide it among several streams',
    details: { limit: 'streamBytes', value: 4_194_304, scope: 'call' },
  },
  'crdt/stream-gap': {
    message: 'the piece begins at 120, but the server has 96 units of the content; continue at 96',
    details: { received: 96 },
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
  'crdt/version-too-old': {
    message:
      'the version is unknown or too old; the oldest version that the log can rebuild is 1.40: send a later version, or a saved version',
    details: { oldest: '1.40' },
  },
  'presence/too-many-users': {
    message: 'a document has at most 500 users who are not connected; delete some',
    details: { limit: 'virtualUsersPerDocument', value: 500, scope: 'document' },
  },
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
  'memory/judgment-not-found': { item: 'judgment-1', message: 'there is no such judgment' },
}
