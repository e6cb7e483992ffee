import { afterAll, beforeAll, expect, it } from 'vitest'
import { operationList } from '../../../src/capabilities/list.ts'
import { typed } from '../../support/clients/clients.ts'
import { FeedConsumer } from '../../support/clients/feed-consumer.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

const organizationId = 'acme'
const ids = { organizationId, documentId: 'd' }
const editor = { ...ids, editorId: 'main' }
const actionUser = { userId: 'ann', name: 'Ann' }
const branch = { ...editor, name: 'b', userId: 'ann' }

/** The version after the first change, the id of the first saved version, and the credentials. */
interface Results {
  readonly apiKey: string
  readonly authToken: string
  readonly first: string
  readonly versionId: string
}

/** A call, and the event of the feed that shows its effect; null if it only prepares the next call. */
interface Step {
  readonly path: string
  readonly request: object | ((results: Results) => object)
  readonly event: { readonly type: string; readonly editorId?: string } | null
}

const changed = { type: 'crdt.update_data', editorId: 'main' }
const changedBranch = { type: 'crdt.update_data', editorId: 'main@b' }
const deleted = { type: 'crdt.delete_data', editorId: 'main' }
const deletedBranch = { type: 'crdt.delete_data', editorId: 'main@b' }
const text = (data: string) => ({ ...editor, type: 'text', data })
const thread = { ...ids, actionUser, annotationId: 'a' }
const reactions = [{ reactionId: 'r', reaction: '👍', user: actionUser }]
const event = (type: string) => ({ type })

/** Calls of all operations that change or remove content, or comments about it, in an order in which each has an effect. */
const steps: readonly Step[] = [
  {
    path: '/v2/organizations/documents/add',
    request: { organizationId, documents: [{ documentId: 'd', documentName: 'D' }] },
    event: event('document.create'),
  },
  { path: '/v2/crdt/add', request: text('one'), event: changed },
  { path: '/v2/crdt/update', request: text('two'), event: changed },
  {
    path: '/v2/crdt/edit',
    request: { ...editor, edits: [{ insert: { at: 'end', content: 'x' } }] },
    event: changed,
  },
  { path: '/v2/crdt/undo', request: ({ first }) => ({ ...editor, from: first }), event: changed },
  {
    path: '/v2/crdt/apply',
    request: { ...editor, update: Buffer.from(typed('y', 7)).toString('base64') },
    event: changed,
  },
  { path: '/v2/crdt/versions/create', request: editor, event: null },
  { path: '/v2/crdt/prune', request: editor, event: changed },
  { path: '/v2/crdt/update', request: text('three'), event: changed },
  {
    path: '/v2/crdt/versions/restore',
    request: ({ versionId }) => ({ ...editor, versionId }),
    event: changed,
  },
  { path: '/v2/crdt/copy', request: { organizationId, documentId: 'copy', from: ids }, event: changed },
  { path: '/v2/crdt/branches/create', request: branch, event: null },
  { path: '/v2/crdt/update', request: { ...text('four'), editorId: 'main@b' }, event: changedBranch },
  { path: '/v2/crdt/branches/merge', request: branch, event: changed },
  { path: '/v2/crdt/branches/delete', request: { ...editor, name: 'b' }, event: deletedBranch },
  { path: '/v2/crdt/branches/create', request: branch, event: null },
  { path: '/v2/crdt/update', request: { ...text('five'), editorId: 'main@b' }, event: changedBranch },
  {
    path: '/v2/commentannotations/add',
    request: {
      ...ids,
      actionUser,
      annotations: [{ annotationId: 'a', comments: [{ commentId: 'a1', from: actionUser, text: 'x' }] }],
    },
    event: event('comment_annotation.add'),
  },
  {
    path: '/v2/crdt/copy',
    request: { organizationId, documentId: 'copy-of-comments', from: ids, withComments: true },
    event: event('comment_annotation.add'),
  },
  {
    path: '/v2/commentannotations/update',
    request: { ...ids, actionUser, annotations: [{ annotationId: 'a', status: 'resolved' }] },
    event: event('comment_annotation.status_change'),
  },
  {
    path: '/v2/commentannotations/comments/add',
    request: { ...thread, comments: [{ commentId: 'a2', from: actionUser, text: 'y' }] },
    event: event('comment.add'),
  },
  {
    path: '/v2/commentannotations/comments/update',
    request: { ...thread, comments: [{ commentId: 'a2', text: 'z' }] },
    event: event('comment.update'),
  },
  {
    path: '/v2/commentannotations/comments/reactions/add',
    request: { ...thread, commentId: 'a2', reactions },
    event: event('comment.reaction_add'),
  },
  {
    path: '/v2/commentannotations/comments/reactions/delete',
    request: { ...thread, commentId: 'a2', reactionIds: ['r'] },
    event: event('comment.reaction_delete'),
  },
  {
    path: '/v2/commentannotations/comments/delete',
    request: { ...thread, commentIds: ['a2'] },
    event: event('comment.delete'),
  },
  {
    path: '/v2/commentannotations/delete',
    request: { ...ids, actionUser, annotationIds: ['a'] },
    event: event('comment.delete'),
  },
  {
    path: '/v2/commentannotations/add',
    request: {
      ...ids,
      actionUser,
      location: { id: 'page' },
      annotations: [{ annotationId: 'b', comments: [{ commentId: 'b1', from: actionUser, text: 'x' }] }],
    },
    event: event('comment_annotation.add'),
  },
  {
    path: '/v1/organizations/documents/locations/data/delete',
    request: ({ apiKey, authToken }) => ({ ...ids, location: { id: 'page' }, apiKey, authToken }),
    event: event('comment.delete'),
  },
  { path: '/v2/crdt/delete', request: ids, event: deleted },
  {
    path: '/v2/organizations/documents/delete',
    request: { organizationId, documentIds: ['d'] },
    event: event('document.delete'),
  },
  {
    path: '/v2/organizations/delete',
    request: { organizationIds: [organizationId] },
    event: event('organization.delete'),
  },
]

let server: TestServer
let consumer: FeedConsumer

beforeAll(async () => {
  server = await startTestServer()
  dataOf(
    await server.post('/v2/organizations/add', {
      organizations: [{ organizationId, organizationName: 'Acme' }],
    }),
  )
  dataOf(await server.post('/v2/workspace/feed/update', { enabled: true }))
  consumer = new FeedConsumer(server)
})

afterAll(() => server.stop())

/** Operations that change what users see, but neither content nor comments, with an event of the feed. */
const othersWithEvents = [
  '/v2/activities/add',
  '/v2/auth/permissions/add',
  '/v2/auth/permissions/remove',
  '/v2/presence/add',
  '/v2/presence/delete',
  '/v2/users/add',
  '/v2/users/delete',
]

/**
 * Removals of folders, whose events are those of their documents, and of data of users. An event of an erasure would
 * have to name the user whom it erases.
 */
const removals = [
  '/v1/organizations/folders/delete',
  '/v2/organizations/folders/delete',
  '/v2/users/data/delete',
]

/** Operations that change neither content, nor comments, nor what the feed reports. */
const withoutContent = [
  /^\/v2\/workspace\//,
  /\/(usergroups|notifications|schemas|judgments|activities|connections|presence|livestate)\//,
  /\/organizations\/(add|update|documents\/(update|move)|folders\/(add|update))$/,
  /\/access\/update$/,
  /\/(users\/update|revoke_tokens|branches\/(create|reject)|versions\/(create|delete))$/,
]

const known = (path: string): boolean =>
  steps.some((step) => step.path === path) ||
  [...othersWithEvents, ...removals].includes(path) ||
  withoutContent.some((each) => each.test(path))

it('[FEED-17] knows the event of each operation that writes', () => {
  const writing = operationList.filter(({ effect }) => effect !== 'reads').map(({ path }) => path)
  expect(writing.filter((path) => !known(path))).toEqual([])
})

it('[FEED-17] has an event for each operation that changes or removes content or comments', async () => {
  const { apiKey, authToken } = server.credentials
  const results = { first: '', versionId: '', apiKey, authToken }
  for (const { path, request, event } of steps) {
    const seen = consumer.events.length
    const data = dataOf(await server.post(path, typeof request === 'function' ? request(results) : request))
    const { version, versionId } = (data ?? {}) as Partial<Record<string, string>>
    results.first ||= version ?? ''
    results.versionId ||= versionId ?? ''
    if (event === null) continue
    const { type, editorId } = event
    await consumer.until(
      (each) =>
        consumer.events.indexOf(each) >= seen && each.type === type && each.data.editorId === editorId,
    )
  }
})

it('[FEED-18] has the events of each document that an operation for many removes', async () => {
  const other = { organizationId: 'many' }
  const post = async (path: string, request: object): Promise<unknown> =>
    dataOf(await server.post(path, request))
  await post('/v2/organizations/add', { organizations: [{ ...other, organizationName: 'Many' }] })
  await post('/v1/organizations/folders/add', { ...other, folders: [{ folderId: 'f', folderName: 'F' }] })
  await post('/v2/organizations/documents/add', {
    ...other,
    documents: [{ documentId: 'inside', documentName: 'I', folderId: 'f' }],
  })
  await post('/v2/crdt/add', { ...other, documentId: 'inside', editorId: 'main', type: 'text', data: 'x' })
  await post('/v2/organizations/folders/delete', { ...other, folderId: 'f' })
  await consumer.until(({ type, documentId }) => type === 'document.delete' && documentId === 'inside')
})
