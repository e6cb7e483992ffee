import { operationList } from '../../../src/capabilities/list.ts'
import type { Config } from '../../../src/core/config/config.ts'
import { dataOf, startTestServer, type TestServer } from '../servers/server.ts'

const organizationId = 'acme'
const documentId = 'report'
const domains = ['https://www.example.com/app', '*.example.com']
const adminToken = 'an-admin-token-of-tests'
const activity = {
  id: 'signed-off',
  featureType: 'custom',
  actionType: 'document.sign_off',
  actionUser: { userId: 'ann' },
  targetEntityId: 'report',
}
const annotation = {
  annotationId: 'remark-1',
  location: { id: 'page-1' },
  suggestion: {},
  comments: [{ commentId: 'comment-1', from: { userId: 'ann' }, text: 'Is this still right?' }],
}
const reaction = { reactionId: 'reaction-1', reaction: '👍' }
const workspace = {
  name: 'example',
  workspaceId: 'ws_example',
  workspaceAuthToken: 'a-workspace-token-of-tests',
  apiKey: 'key_example',
  authToken: 'an-auth-token-of-tests',
}

/**
 * Public RSA key of 2,048 bits, in the form in which receivers configure it. The private key was not kept.
 */
export const publicKey =
  'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAtZBsU79xTGNIlC8qeHC7MdTgV2oNVLTfSDoNfrgZEHIlCLL7fn0nBGB3F2VDpAvm4w9R5TRKvyvvuCtvIm3ZY/Kbgjriq7RYYvBHb1fs4yCzHTN3wSh9YQXUfaEOl1Vt2/l2zxYQ8x46kpk0xO2xXSTsde6aPada1ZYzRRXKg6SlYpKVUj0rkJzYhmaNFS21ZnJS9rYQhBwXpP25XT0ygwFxI7//4qS5GrjYuZuNfCJCe49CMdkPnPyR0oCSP5WL34mpDXcaopWtUFJUSlVg4avuNLvrkdQGLRqg1FR+8DPXoRDxgbXIrSBgBaxd4r84BJCHaLW3oO0Jh65uJmy62QIDAQAB'
/** `uid` of the endpoint that the examples use. */
const uid = 'billing'

/** A server, and its credentials by the names of the security schemes in `/openapi.json`. */
export interface ExampleServer {
  readonly server: TestServer
  readonly credentials: Readonly<Record<string, string>>
}

/**
 * Starts a server with the workspace that the examples in `/openapi.json` use. Calls use a different API key.
 * No example contains this key, so no example can lock the calls out.
 */
export async function startExampleServer(
  overrides: Partial<Config> = {},
  given: Parameters<typeof startTestServer>[1] = {},
): Promise<ExampleServer> {
  const config = {
    adminToken,
    bootstrap: [workspace],
    apiKey: 'key_of_tests',
    ...overrides,
  }
  const server = await startTestServer(config, given)
  const { apiKey, authToken } = server.credentials
  const { workspaceId, workspaceAuthToken } = workspace
  return { server, credentials: { apiKey, authToken, workspaceId, workspaceAuthToken, adminToken } }
}

/** The objects of the examples, by what has them. */
type Part =
  | 'organization'
  | 'groups'
  | 'notifications'
  | 'content'
  | 'activities'
  | 'comments'
  | 'presence'
  | 'versions'
  | 'branch'
  | 'feed'
  | 'callbacks'
  | 'domains'
  | 'webhooks'

const inOrganization: readonly Part[] = [
  'organization',
  'groups',
  'notifications',
  'content',
  'activities',
  'comments',
  'presence',
  'versions',
]

/**
 * Objects that an operation needs, by the beginning of its path. The first match counts. Other operations get the
 * organization with all of its objects.
 */
const partsByPath: readonly (readonly [start: string, parts: readonly Part[]])[] = [
  ['/v2/workspace/advancedwebhook', ['webhooks']],
  ['/v2/workspace/webhookconfig/', ['webhooks']],
  ['/v2/workspace/callbacks/', ['callbacks']],
  ['/v2/workspace/domains/', ['domains']],
  ['/v2/workspace/deleted/', inOrganization],
  ['/v2/workspace/usage/', inOrganization],
  ['/v2/workspace/', []],
  ['/v2/requests/', []],
  ['/v2/feed/', ['organization', 'feed']],
  ['/v1/notifications/', ['organization', 'notifications']],
  ['/v2/notifications/', ['organization', 'notifications']],
  ['/v1/organizations/usergroups/', ['organization', 'groups']],
  ['/v2/organizations/usergroups/', ['organization', 'groups']],
  ['/v2/auth/', ['organization', 'groups']],
  ['/v2/commentannotations/', ['organization', 'comments']],
  ['/v2/presence/', ['organization', 'presence']],
  ['/v2/crdt/branches/create', ['organization', 'content', 'versions']],
  ['/v2/crdt/branches/', ['organization', 'content', 'versions', 'branch']],
  ['/v2/crdt/add', ['organization', 'content']],
  ['/v2/crdt/', ['organization', 'content', 'versions']],
]

const partsOf = (path: string): readonly Part[] =>
  partsByPath.find(([start]) => path.startsWith(start))?.[1] ??
  (path === '' ? [...inOrganization, 'domains', 'webhooks'] : inOrganization)

/** Creates the objects that the next call of an operation needs. Returns ids like `makeWorld`. */
export type WorldMaker = (path: string) => Promise<Readonly<Record<string, string>>>

/**
 * Returns a maker of objects for calls that follow each other without other calls between them. It keeps the objects
 * after an operation that only reads them, unless the next operation needs others.
 */
export function worldMaker(server: Pick<TestServer, 'post'>): WorldMaker {
  let kept: { readonly parts: readonly Part[]; readonly versionId: string | undefined } | null = null
  return async (path) => {
    const isKept = kept !== null && partsOf(path).every((part) => kept?.parts.includes(part))
    if (!isKept || path === resending || path.startsWith(deleted) || adding.includes(path)) {
      const made = await makeWorld(server, path, false)
      kept = { parts: partsOf(path), versionId: made.versionId }
      if (!reading.has(path)) kept = null
      return made
    }
    const { versionId } = kept ?? {}
    if (!reading.has(path)) kept = null
    return idsFor(path, versionId)
  }
}

const reading: ReadonlySet<string> = new Set(
  operationList.filter(({ effect }) => effect === 'reads').map(({ path }) => path),
)

const idsFor = (path: string, versionId: string | undefined): Record<string, string> =>
  versionId === undefined ? {} : { versionId, ...(comparing.includes(path) && { from: versionId }) }

/**
 * Deletes and creates the objects of the examples, so that the operation `path` can be called next. Returns
 * the ids that the server has generated, because examples cannot contain them.
 * @param path path of an operation; '': creates the objects that most operations need
 * @param hasAll whether the objects that most operations need are created too
 */
export async function makeWorld(
  server: Pick<TestServer, 'post'>,
  path: string,
  hasAll = true,
): Promise<Record<string, string>> {
  const { post } = server
  const parts = hasAll ? [...partsOf(''), ...partsOf(path)] : partsOf(path)
  const document = { organizationId, documentId }
  if (parts.includes('organization')) {
    await post('/v2/crdt/delete', document)
    await post('/v2/organizations/delete', { organizationIds: [organizationId] })
  }
  if (parts.includes('domains')) await post('/v2/workspace/domains/delete', { domains })
  if (parts.includes('webhooks')) await makeWebhooks(server)
  if (parts.includes('callbacks'))
    dataOf(
      await post('/v2/workspace/callbacks/update', {
        authorize: { url: 'https://app.example.com/weft/authorize' },
      }),
    )
  if (parts.includes('feed')) await post('/v2/workspace/feed/update', { enabled: true })
  const branch = { ...document, editorId: 'main', name: 'draft', userId: 'ann' }
  const steps: readonly (readonly [Part, string, object])[] = [
    ['organization', '/v2/organizations/add', { organizations: [{ organizationId }] }],
    ['organization', '/v1/organizations/folders/add', { organizationId, folders: [{ folderId: 'reports' }] }],
    ['organization', '/v2/organizations/documents/add', { organizationId, documents: [{ documentId }] }],
    ['organization', '/v2/users/add', { organizationId, users: [{ userId: 'ann' }, { userId: 'bob' }] }],
    [
      'groups',
      '/v1/organizations/usergroups/add',
      { organizationId, organizationUserGroups: [{ groupId: 'design' }] },
    ],
    [
      'notifications',
      '/v1/notifications/add',
      {
        ...document,
        notificationId: 'shared-1',
        actionUser: { userId: 'bob' },
        displayHeadlineMessageTemplate: '{actionUser} has shared the report',
        displayBodyMessage: 'Have a look.',
        notifyUsers: [{ userId: 'ann' }],
      },
    ],
    ['content', '/v2/crdt/add', { ...document, editorId: 'main', type: 'text', data: 'Hello' }],
    ['content', '/v2/crdt/schemas/set', { name: 'article', schema: { nodes: { doc: {} } }, version: 2 }],
    ['activities', '/v2/activities/add', { ...document, activities: [activity] }],
    [
      'comments',
      '/v2/commentannotations/add',
      { ...document, actionUser: { userId: 'ann' }, annotations: [annotation] },
    ],
    [
      'comments',
      '/v2/commentannotations/comments/reactions/add',
      {
        ...document,
        annotationId: 'remark-1',
        commentId: 'comment-1',
        actionUser: { userId: 'bob' },
        reactions: [reaction],
      },
    ],
    ['presence', '/v2/presence/add', { ...document, users: [{ userId: 'ann' }] }],
    ['branch', '/v2/crdt/branches/create', branch],
    ['domains', '/v2/workspace/domains/add', { domains }],
  ]
  // Leaves out the objects that the next call adds, because they must not exist yet.
  for (const [part, step, data] of steps)
    if (parts.includes(part) && (step !== path || !adding.includes(step))) dataOf(await post(step, data))
  if (path === resending) return sentBefore(server)
  if (path.startsWith(deleted)) return deletedBefore(server)
  const hasVersion = parts.includes('versions') && path !== '/v2/crdt/add'
  return idsFor(path, hasVersion ? (await versionOf(server)).versionId : undefined)
}

async function versionOf({ post }: Pick<TestServer, 'post'>): Promise<{ versionId: string }> {
  const version = await post('/v2/crdt/versions/create', { organizationId, documentId, editorId: 'main' })
  return dataOf(version) as { versionId: string }
}

/** Operations that read the changes since a version. */
const comparing: readonly string[] = ['/v2/crdt/changes', '/v2/crdt/undo', '/v2/crdt/versions/diff']

const resending = '/v2/workspace/advancedwebhook/deliveries/resend'

/**
 * Sends a test event, so that there is a message that can be sent again. The server rejects its destination.
 */
async function sentBefore({ post }: Pick<TestServer, 'post'>): Promise<Record<string, string>> {
  const path = '/v2/workspace/advancedwebhook/endpoints/test'
  return dataOf(await post(path, { endpointId: uid })) as { messageId: string }
}

/** Start of the operations on deletions. */
const deleted = '/v2/workspace/deleted/'

/** Deletes the document, so that there is a deletion. */
async function deletedBefore({ post }: Pick<TestServer, 'post'>): Promise<Record<string, string>> {
  dataOf(await post('/v2/organizations/documents/delete', { organizationId, documentIds: [documentId] }))
  const deletions = dataOf(await post(`${deleted}get`, { organizationId, pageSize: 1000 })) as {
    readonly type: string
    readonly deletionId: string
    readonly deletedAt: number
  }[]
  const [last] = deletions
    .filter(({ type }) => type === 'document')
    .toSorted((a, b) => b.deletedAt - a.deletedAt)
  return { deletionId: last?.deletionId ?? '' }
}

/** Creates one endpoint. Configures public keys, so that a call can enable encryption. */
async function makeWebhooks({ post }: Pick<TestServer, 'post'>): Promise<void> {
  const wrapping = { encryptData: false, publicKey }
  await post('/v2/workspace/advancedwebhookconfig/update', { isEnabled: true, ...wrapping })
  await post('/v2/workspace/webhookconfig/update', { webhookServiceConfig: wrapping })
  const { endpoints } = dataOf(await post('/v2/workspace/advancedwebhook/endpoints/get', {})) as {
    endpoints: readonly { readonly id: string }[]
  }
  for (const { id } of endpoints)
    await post('/v2/workspace/advancedwebhook/endpoints/delete', { endpointId: id })
  // The URL is an address of this machine, because the server never sends to such addresses.
  const endpoint = { url: 'http://127.0.0.1/webhooks', uid }
  dataOf(await post('/v2/workspace/advancedwebhook/endpoints/create', endpoint))
}

/** Operations that fail if their object already exists. */
const adding: readonly string[] = ['/v2/crdt/add', '/v2/workspace/domains/add']
