import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { feedLimits } from '../../../src/capabilities/feed/limits.ts'
import { eventually } from '../../support/clients/clients.ts'
import { FeedConsumer, type ReceivedEvent, readStream } from '../../support/clients/feed-consumer.ts'
import { dataOf, metric, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
  dataOf(await server.post('/v2/workspace/feed/update', { enabled: true }))
})
afterAll(() => server.stop())

const write = async (organizationId: string, documentId: string, data: string): Promise<string> => {
  const ids = { organizationId, documentId, editorId: 'main' }
  const change = { ...ids, type: 'text', data, upsert: true }
  return (dataOf(await server.post('/v2/crdt/update', change)) as { version: string }).version
}

const isChange = ({ type }: ReceivedEvent): boolean => type === 'crdt.update_data'

/** Resolves when the feed has the change of a document with a version. */
async function seen(documentId: string, version: string): Promise<FeedConsumer> {
  const consumer = new FeedConsumer(server, { documentIds: [documentId] })
  await consumer.until(({ data }) => data.version === version)
  return consumer
}

const codeOf = async (query: object) => (await server.post('/v2/feed/get', query)).body.error?.details?.code

describe('pages', () => {
  it('[FEED-20] a reader gets every matching event once and in order, with any page size and filter', async () => {
    for (const organizationId of ['a', 'b'])
      for (let number = 0; number < 5; number++)
        await write(organizationId, `${organizationId}${number}`, 'x')
    await seen('b4', await write('b', 'b4', 'xy'))
    const all = new FeedConsumer(server, { pageSize: 1_000 })
    await all.toEnd()
    expect(new Set(all.events.map(({ id }) => id)).size).toBe(all.events.length)
    const queries = [
      {},
      { organizationId: 'a' },
      { types: ['document.create'] },
      { documentIds: ['a1', 'b4'] },
      { organizationId: 'b', types: ['crdt.update_data'], documentIds: ['a1', 'b4'] },
    ]
    for (const query of queries)
      for (const pageSize of [1, 3, 1_000]) {
        const consumer = new FeedConsumer(server, { ...query, pageSize })
        await consumer.toEnd()
        const { organizationId, types, documentIds } = query
        const expected = all.events.filter(
          (event) =>
            (organizationId === undefined || event.organizationId === organizationId) &&
            (types === undefined || types.includes(event.type)) &&
            (documentIds === undefined || documentIds.includes(event.documentId ?? '')),
        )
        expect(consumer.events, JSON.stringify({ query, pageSize })).toEqual(expected)
        expect(expected.length).toBeGreaterThan(0)
      }
    // Each event has a cursor of its own.
    for (const [index, { cursor }] of all.events.entries()) {
      const { events } = await all.read({ cursor })
      expect(events.map(({ id }) => id)).toEqual(all.events.slice(index + 1).map(({ id }) => id))
    }
  })

  it('[FEED-21] a read from now starts after the last event', async () => {
    const consumer = new FeedConsumer(server)
    const { events, cursor } = await consumer.read({ from: 'now' })
    expect(events).toEqual([])
    const version = await write('a', 'later', 'x')
    const later = new FeedConsumer(server, {}, cursor)
    await later.until(({ data }) => data.version === version)
    expect(later.events.map(({ type, documentId }) => [type, documentId])).toEqual([
      ['document.create', 'later'],
      ['crdt.update_data', 'later'],
    ])
    expect((await server.post('/v2/feed/get', { from: 'now', cursor })).status).toBe(400)
  })

  it('[FEED-22] a cursor that the feed has never returned is rejected', async () => {
    const { cursor } = await new FeedConsumer(server).read({ from: 'now' })
    const [generation, number, chain] = Buffer.from(cursor, 'base64url').toString().split('.')
    const cursorOf = (...parts: unknown[]) => Buffer.from(parts.join('.')).toString('base64url')
    expect(await codeOf({ cursor: 'x' })).toBe('feed/cursor-unknown')
    expect(await codeOf({ cursor: cursorOf(generation, Number(number) + 1, chain) })).toBe(
      'feed/cursor-unknown',
    )
    expect(await codeOf({ cursor: cursorOf(generation, number, '00000000') })).toBe('feed/cursor-unknown')
    expect(await codeOf({ cursor: cursorOf('00000000', number, chain) })).toBe('feed/cursor-expired')
    expect(await codeOf({ cursor })).toBeUndefined()
  })

  it('[FEED-23] a read waits for an event, and the number of waiting readers is limited', async () => {
    const { cursor } = await new FeedConsumer(server).read({ from: 'now' })
    const waitSeconds = 20
    const unmatched = new FeedConsumer(server, { documentIds: ['unmatched'] }, cursor).next({ waitSeconds })
    const waiting = new FeedConsumer(server, {}, cursor).next({ waitSeconds })
    await eventually(async () => (await metric(server, 'weft_feed_readers')) === 2)
    await write('a', 'awaited', 'x')
    expect(await Promise.race([unmatched, waiting])).toBe(await waiting)
    expect((await waiting).events.length).toBeGreaterThan(0)
    await write('a', 'unmatched', 'x')
    await unmatched
    const { cursor: end } = await new FeedConsumer(server).read({ from: 'now' })
    const none = { cursor: end, waitSeconds: 1, documentIds: ['none'] }
    expect((await new FeedConsumer(server).read(none)).events).toEqual([])
    const quiet = { cursor: end, waitSeconds: feedLimits.waitSeconds, documentIds: ['late'] }
    const calls = Array.from({ length: feedLimits.waiting + 1 }, () => server.post('/v2/feed/get', quiet))
    expect((await Promise.race(calls)).status).toBe(429)
    // The event ends the calls that wait.
    await write('a', 'late', 'x')
    const statuses = (await Promise.all(calls)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 429)).toHaveLength(1)
    expect(statuses.filter((status) => status === 200)).toHaveLength(feedLimits.waiting)
    expect(await metric(server, 'weft_feed_readers')).toBe(0)
  })
})

describe('content', () => {
  it('[FEED-24] the last change of an editor has the present content, and earlier ones are superseded', async () => {
    const first = await write('c', 'read', 'one')
    await seen('read', first)
    const second = await write('c', 'read', 'one two')
    const consumer = await seen('read', second)
    const { events } = await consumer.read({ content: 'text' })
    expect(events.filter(isChange)).toMatchObject([
      { content: null, contentOmitted: 'superseded' },
      { content: { version: second, data: 'one two', type: 'text', contentKey: 'content' } },
    ])
    expect((await consumer.read({ content: 'delta' })).events.filter(isChange).at(-1)?.content?.data).toEqual(
      [{ insert: 'one two' }],
    )
    expect(
      (await consumer.read({ content: 'text', contentKey: 'other' })).events.filter(isChange).at(-1),
    ).toMatchObject({ content: null, contentOmitted: 'unreadable' })
    dataOf(
      await server.post('/v2/organizations/documents/delete', { organizationId: 'c', documentIds: ['read'] }),
    )
    expect((await consumer.read({ content: 'text' })).events.filter(isChange).at(-1)).toMatchObject({
      content: null,
      contentOmitted: 'deleted',
    })
    expect((await consumer.read({ content: 'changes' })).events.filter(isChange).at(-1)).toMatchObject({
      content: null,
      contentOmitted: 'compacted',
    })
  })

  it('[FEED-24] a page ends before its content becomes too large, and too large content is left out', async () => {
    const large = 'x'.repeat(700_000)
    for (const id of ['l1', 'l2', 'l3']) await write('large', id, large)
    await seen('huge', await write('large', 'huge', 'x'.repeat(1_200_000)))
    const consumer = new FeedConsumer(server, { organizationId: 'large', content: 'text' })
    const pages: number[] = []
    for (let isEnd = false; !isEnd; ) {
      const page = await consumer.next()
      isEnd = page.isEnd
      pages.push(page.events.filter(({ content }) => content).length)
    }
    expect(pages.filter((each) => each > 0)).toEqual([1, 1, 1])
    const changes = consumer.events.filter(isChange)
    expect(changes.map(({ documentId }) => documentId)).toEqual(['l1', 'l2', 'l3', 'huge'])
    expect(changes.at(-1)).toMatchObject({ content: null, contentOmitted: 'too-large' })
  })
})

describe('stream', () => {
  const headers = () => ({
    'x-service-api-key': server.credentials.apiKey,
    'x-service-auth-token': server.credentials.authToken,
  })
  const open = (query = '', more: Record<string, string> = {}) =>
    fetch(`${server.url}/v2/feed/stream${query}`, { headers: { ...headers(), ...more } })

  it('[FEED-25] sends the events of the feed, and resumes', async () => {
    const consumer = new FeedConsumer(server, { organizationId: 'a' })
    await consumer.toEnd()
    const response = await open('?organizationId=a&types=document.create&types=crdt.update_data')
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    const received: ReceivedEvent[] = []
    for await (const { id, data } of readStream(response.body as ReadableStream<Uint8Array>)) {
      if (data === undefined) continue
      const event = JSON.parse(data) as ReceivedEvent
      expect(event.cursor).toBe(id)
      received.push(event)
      if (received.length === consumer.events.length) break
    }
    expect(received).toEqual(consumer.events)
    const middle = received[3] as ReceivedEvent
    const resumed = await open('?organizationId=a', { 'last-event-id': middle.cursor })
    for await (const { data } of readStream(resumed.body as ReadableStream<Uint8Array>)) {
      expect((JSON.parse(data ?? '{}') as ReceivedEvent).id).toBe(received[4]?.id)
      break
    }
    await eventually(async () => (await metric(server, 'weft_feed_readers')) === 0)
  })

  it('[FEED-25] rejects missing credentials, unknown parameters and unknown cursors with their status', async () => {
    expect((await fetch(`${server.url}/v2/feed/stream`)).status).toBe(400)
    expect((await open('', { 'x-service-auth-token': 'wrong' })).status).toBe(401)
    expect((await open('?organisationId=a')).status).toBe(400)
    const unknown = await open('?cursor=x')
    expect([
      unknown.status,
      ((await unknown.json()) as { error: { details: object } }).error.details,
    ]).toEqual([400, { code: 'feed/cursor-unknown' }])
    expect(await metric(server, 'weft_feed_readers')).toBe(0)
  })

  it('[FEED-25] a reader that does not read does not make the server read the whole feed', async () => {
    const [documents, bytes] = [20, 600_000]
    const idOf = (number: number): string => `s${number}`
    for (let number = 0; number < documents; number++) await write('slow', idOf(number), 'y'.repeat(bytes))
    await seen('end', await write('slow', 'end', 'y'))
    const url = new URL(
      `${server.url}/v2/feed/stream?organizationId=slow&content=text&types=crdt.update_data`,
    )
    const request = httpRequest(url, { headers: headers() }).end()
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    response.pause()
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    // The kernel keeps some MB of the stream. The server has not read the last documents yet.
    const documentIds = Array.from({ length: 5 }, (_, index) => idOf(documents - 1 - index))
    dataOf(await server.post('/v2/organizations/documents/delete', { organizationId: 'slow', documentIds }))
    const contents = new Map<string | null, string | undefined>()
    for await (const { data } of readStream(Readable.toWeb(response) as ReadableStream<Uint8Array>)) {
      if (data === undefined) continue
      const event = JSON.parse(data) as ReceivedEvent
      contents.set(event.documentId, event.contentOmitted)
      if (event.documentId === 'end') break
    }
    expect(contents.size).toBe(documents + 1)
    for (const id of documentIds) expect(contents.get(id)).toBe('deleted')
    expect(contents.get(idOf(0))).toBeUndefined()
    request.destroy()
    await eventually(async () => (await metric(server, 'weft_feed_readers')) === 0)
  })
})

it('[FEED-68] a read or a stream that finds nothing counts as a call for each 1,000 events that it reads', async () => {
  const limited = await startTestServer({ callsPerKey: { perSecond: 0.001, burst: 100 } })
  try {
    dataOf(await limited.post('/v2/workspace/feed/update', { enabled: true }))
    const atOnce = 100
    for (let first = 0; first < 20 * atOnce; first += atOnce) {
      const documents = Array.from({ length: atOnce }, (_, index) => ({ documentId: `d${first + index}` }))
      const added = { organizationId: 'a', createOrganization: true, documents }
      dataOf(await limited.post('/v2/organizations/documents/add', added))
    }
    await new FeedConsumer(limited, { documentIds: ['d1999'] }).until(() => true)
    const { apiKey, authToken } = limited.credentials
    const headers = { 'x-service-api-key': apiKey, 'x-service-auth-token': authToken }
    const stream = async () => {
      const left = new AbortController()
      const { status, body } = await fetch(`${limited.url}/v2/feed/stream?types=comment.add`, {
        headers,
        signal: left.signal,
      })
      await body?.getReader().read()
      left.abort()
      return status
    }
    for (let opened = 0; opened < 15; opened++) expect(await stream()).toBe(200)
    // The additions count as 20 calls, the streams as 30, and each read as 2. So at most 25 reads are left.
    let reads = 0
    const query = { types: ['comment.add'] }
    while (reads < 100 && (await limited.post('/v2/feed/get', query)).status === 200) reads += 1
    expect(reads).toBeGreaterThan(0)
    expect(reads).toBeLessThan(26)
  } finally {
    await limited.stop()
  }
})
