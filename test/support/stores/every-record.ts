import type { Config } from '../../../src/core/config/config.ts'
import { fillOrganization, zoe } from '../data/user-data.ts'
import { dataOf, type TestServer } from '../servers/server.ts'

/** Calls an operation. Returns `data` of the response, or rejects. */
type Post = (path: string, data: object) => Promise<unknown>

/** Credentials of the stores of released formats. */
export const releasedCredentials: Pick<
  Config,
  'workspaceId' | 'workspaceAuthToken' | 'apiKey' | 'authToken'
> = {
  workspaceId: 'released',
  workspaceAuthToken: 'released-workspace-token',
  apiKey: 'released-key',
  authToken: 'released-auth-token-1234',
}

/** Returns a function that calls operations of a server. */
export const postOf =
  ({ post }: TestServer): Post =>
  async (path, data) => {
    const answer = await post(path, data)
    if (answer.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
    return dataOf(answer)
  }

const organizationId = 'acme'

/** A document of each type, with its content. */
const contents: readonly (readonly [type: string, data: unknown])[] = [
  ['text', 'one\ntwo 😀'],
  ['map', { title: 'a', tags: ['x', 'y'], n: 1.5, none: null, deep: { more: true } }],
  ['array', [{ id: 1, name: 'a' }, 2, 'three']],
  ['xml', '<paragraph>Hello <bold>you</bold></paragraph><image src="a.png"></image>'],
  ['markdown', '# Title\n\nA *word* and a [link](https://example.com).\n\n- one\n- two\n'],
  ['html', '<h2>Title</h2><p>A <strong>word</strong></p>'],
  ['delta', [{ insert: 'plain ' }, { insert: 'bold', attributes: { bold: true } }, { insert: '\n' }]],
  [
    'xmltext',
    { attributes: { dir: 'ltr' }, delta: [{ text: { attributes: { id: 1 }, delta: [{ insert: 'x' }] } }] },
  ],
]

const addressOf = (type: string) => ({ organizationId, documentId: `of-${type}`, editorId: 'main' })
const text = addressOf('text')

/**
 * Fills a store with documents of every type, saved versions, a branch, a folder, comments, notifications, grants, and
 * a webhook whose event waits.
 */
export async function fillStore(post: Post): Promise<void> {
  await fillOrganization(post, organizationId)
  await post('/v1/organizations/folders/add', {
    organizationId,
    folders: [{ folderId: 'reports', folderName: 'Reports' }],
  })
  for (const [type, data] of contents) await post('/v2/crdt/add', { ...addressOf(type), type, data })
  await post('/v2/crdt/versions/create', { ...text, userId: 'bob' })
  await post('/v2/crdt/update', { ...text, type: 'text', data: 'one\nand two 😀', userId: 'bob' })
  await post('/v2/crdt/branches/create', { ...text, name: 'draft', userId: 'bob' })
  await post('/v2/workspace/advancedwebhookconfig/update', { isEnabled: true })
  // The discard port of this machine: the event waits for its next attempt.
  await post('/v2/workspace/advancedwebhook/endpoints/create', {
    url: 'https://127.0.0.1:9/hook',
    uid: 'billing',
  })
  await post('/v2/organizations/documents/add', { organizationId, documents: [{ documentId: 'last' }] })
}

const deliveries = '/v2/workspace/advancedwebhook/deliveries/get'

const reads: readonly (readonly [path: string, data: object])[] = [
  ['/v2/organizations/get', {}],
  ['/v2/organizations/documents/get', { organizationId }],
  ['/v2/organizations/folders/get', { organizationId }],
  ['/v2/organizations/usergroups/get', { organizationId }],
  ['/v2/users/get', { organizationId }],
  ['/v2/users/data/get', { userId: zoe.userId }],
  ['/v2/auth/permissions/get', { organizationId, userIds: [zoe.userId, 'bob'] }],
  ['/v2/activities/get', { organizationId }],
  ['/v2/commentannotations/get', { organizationId, documentId: 'd1' }],
  ['/v2/notifications/get', { organizationId, userId: 'bob' }],
  ['/v2/crdt/versions/list', text],
  ['/v2/crdt/branches/list', text],
  ['/v2/crdt/branches/diff', { ...text, name: 'draft' }],
  ['/v2/workspace/advancedwebhook/endpoints/get', {}],
  [deliveries, { endpointId: 'billing' }],
  ...contents.map(([type]) => ['/v2/crdt/get', addressOf(type)] as const),
  ['/v2/crdt/get', { organizationId, documentId: 'd1', editorId: 'main' }],
]

/**
 * Presence ends some time after the last server has stopped, and the activity of edits is recorded some time after
 * them.
 */
const isLate = (item: unknown): boolean =>
  typeof item === 'object' &&
  item !== null &&
  (('kind' in item && item.kind === 'presence') ||
    ('actionType' in item && item.actionType === 'crdt.editor_edit'))

/**
 * Returns the messages about new documents, without their attempts: the server may make another attempt at any time,
 * and sends events about edits some time after them.
 */
function messagesOf(read: unknown): unknown {
  const found = read as { deliveries: readonly Readonly<Record<string, unknown>>[] }
  return found.deliveries
    .filter(({ eventType }) => eventType === 'document.create')
    .map(({ messageId, eventType, status }) => ({ messageId, eventType, status }))
}

/** Returns the number of attempts to send the event of `fillStore`. */
export async function countAttempts(post: Post): Promise<number> {
  const found = await post(deliveries, { endpointId: 'billing' })
  return (
    (found as { deliveries: readonly { attempts: readonly unknown[] }[] }).deliveries[0]?.attempts.length ?? 0
  )
}

/** Leaves out the time of the last change, because an open document has a time that is some ms earlier. */
function withoutTime(item: unknown): unknown {
  if (typeof item !== 'object' || item === null) return item
  const { lastUpdate: _, ...others } = item as { lastUpdate?: unknown }
  return others
}

/** Reads all that `fillStore` has stored, by REST. */
export async function readStore(post: Post): Promise<Readonly<Record<string, unknown>>> {
  const found: Record<string, unknown> = {}
  for (const [path, data] of reads) {
    const read = await post(path, data)
    const kept = Array.isArray(read) ? read.filter((item) => !isLate(item)).map(withoutTime) : read
    found[`${path} ${JSON.stringify(data)}`] = path === deliveries ? messagesOf(read) : kept
  }
  return found
}
