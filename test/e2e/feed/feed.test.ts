import { afterEach, describe, expect, it } from 'vitest'
import { RawClient, typed } from '../../support/clients/clients.ts'
import { FeedConsumer } from '../../support/clients/feed-consumer.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

const organizationId = 'acme'

let running: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of running) await stop()
  running = []
})

async function start(enabled = true): Promise<TestServer> {
  const server = await startTestServer()
  running.push(server.stop)
  if (enabled) dataOf(await server.post('/v2/workspace/feed/update', { enabled: true }))
  return server
}

const addDocument = async ({ post }: TestServer, documentId: string, data = 'x'): Promise<string> => {
  const ids = { organizationId, documentId, editorId: 'main' }
  return (
    dataOf(await post('/v2/crdt/add', { ...ids, type: 'text', data, userId: 'ann' })) as { version: string }
  ).version
}

const update = async ({ post }: TestServer, documentId: string, data: string): Promise<string> => {
  const ids = { organizationId, documentId, editorId: 'main' }
  return (
    dataOf(await post('/v2/crdt/update', { ...ids, type: 'text', data, userId: 'bob' })) as {
      version: string
    }
  ).version
}

describe('configuration', () => {
  it('[FEED-1] a feed that was never configured is off and records nothing', async () => {
    const server = await start(false)
    expect(dataOf(await server.post('/v2/workspace/feed/get', {}))).toEqual({
      enabled: false,
      keepSeconds: 604_800,
    })
    await addDocument(server, 'd')
    const { status, body } = await server.post('/v2/feed/get', {})
    expect([status, body.error?.details?.code]).toEqual([400, 'feed/disabled'])
    dataOf(await server.post('/v2/workspace/feed/update', { enabled: true }))
    await addDocument(server, 'e')
    const consumer = new FeedConsumer(server)
    await consumer.until(({ type, documentId }) => type === 'crdt.update_data' && documentId === 'e')
    expect(new Set(consumer.events.map(({ documentId }) => documentId))).toEqual(new Set(['e']))
  })

  it('[FEED-2] an update changes the given members', async () => {
    const server = await start(false)
    const empty = await server.post('/v2/workspace/feed/update', {})
    expect(empty.body.error?.details?.code).toBe('request/invalid-member')
    expect(dataOf(await server.post('/v2/workspace/feed/update', { keepSeconds: 3_600 }))).toEqual({
      enabled: false,
      keepSeconds: 3_600,
    })
    expect(dataOf(await server.post('/v2/workspace/feed/update', { enabled: true }))).toEqual({
      enabled: true,
      keepSeconds: 3_600,
    })
    expect((await server.post('/v2/workspace/feed/update', { keepSeconds: 59 })).status).toBe(400)
  })

  it('[FEED-3] a feed that is turned off loses its events and its cursors', async () => {
    const server = await start()
    await addDocument(server, 'd')
    const consumer = new FeedConsumer(server)
    await consumer.until(({ type }) => type === 'crdt.update_data')
    dataOf(await server.post('/v2/workspace/feed/update', { enabled: false }))
    expect((await server.post('/v2/feed/get', {})).body.error?.details?.code).toBe('feed/disabled')
    dataOf(await server.post('/v2/workspace/feed/update', { enabled: true }))
    const { cursor } = consumer
    expect((await server.post('/v2/feed/get', { cursor })).body.error?.details?.code).toBe(
      'feed/cursor-expired',
    )
    expect(dataOf(await server.post('/v2/feed/get', {}))).toMatchObject({ events: [], isEnd: true })
  })
})

describe('events', () => {
  it('[FEED-11] the changes of an editor form a chain of versions with their bytes and authors', async () => {
    const server = await start()
    const consumer = new FeedConsumer(server)
    const first = await addDocument(server, 'd', 'a')
    await consumer.until(({ data }) => data.version === first)
    await update(server, 'd', 'ab')
    const last = await update(server, 'd', 'abc')
    await consumer.until(({ data }) => data.version === last)
    const changes = consumer.events.filter(({ type }) => type === 'crdt.update_data')
    expect(changes.map(({ data }) => data.versionBefore)).toEqual([
      null,
      ...changes.slice(0, -1).map(({ data }) => data.version),
    ])
    expect(changes.at(0)?.data).toMatchObject({ editorId: 'main', authors: [{ userId: 'ann' }] })
    expect(changes.at(-1)?.data).toMatchObject({ editorId: 'main', authors: [{ userId: 'bob' }] })
    const { events } = await consumer.read({ content: 'changes' })
    const sent = events.filter(({ type }) => type === 'crdt.update_data')
    for (const { data, content } of sent) {
      const bytes = (content?.updates ?? []).map((each) => Buffer.from(each, 'base64').length)
      expect(bytes.reduce((sum, each) => sum + each, 0)).toBe(data.bytes)
    }
  })

  it('[FEED-10] the feed has the events of sockets, permissions, comments, documents and organizations', async () => {
    const server = await start()
    const post = async (path: string, data: object) =>
      dataOf(await server.post(`/v2/${path}`, { organizationId, documentId: 'd', ...data }))
    await addDocument(server, 'd')
    const client = await RawClient.connect(
      `${server.wsUrl}/sync/${organizationId}/d/main?token=${await server.token('ann')}`,
    )
    client.sendUpdate(typed('y', 1))
    await client.roundTrip()
    const annotations = [
      { annotationId: 'a', comments: [{ commentId: 'a1', from: { userId: 'ann' }, text: 'Hm' }] },
    ]
    await post('commentannotations/add', { actionUser: { userId: 'ann' }, annotations })
    const resources = [{ type: 'document', id: 'd', organizationId, accessRole: 'viewer' }]
    dataOf(
      await server.post('/v2/auth/permissions/add', { user: { userId: 'bob' }, permissions: { resources } }),
    )
    const consumer = new FeedConsumer(server)
    await consumer.until(({ type }) => type === 'crdt.update_data')
    expect(consumer.types()).toEqual(
      new Set([
        'document.create',
        'presence.join',
        'permission.add',
        'comment_annotation.add',
        'comment.add',
        'crdt.update_data',
      ]),
    )
    client.socket.close()
  })
})
