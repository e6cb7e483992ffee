import { getEventListeners, once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClient } from '../../src/client/rest/index.ts'
import { ContentStream } from '../support/clients/content-stream.ts'
import { Random } from '../support/data/random-doc.ts'
import { seed } from '../support/data/seed.ts'
import { dataOf, startTestServer, type TestServer } from '../support/servers/server.ts'

let server: TestServer
let proxy: Server
const sockets = new Set<Socket>()
let documents = 0

beforeAll(async () => {
  server = await startTestServer()
  // A network that is a TCP proxy, whose connections the test breaks.
  proxy = createServer((socket) => {
    const onward = connect(server.port, '127.0.0.1')
    for (const end of [socket, onward]) {
      sockets.add(end)
      end.on('error', () => {})
      end.on('close', () => {
        sockets.delete(end)
        socket.destroy()
        onward.destroy()
      })
    }
    socket.pipe(onward).pipe(socket)
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
})
afterAll(async () => {
  proxy.close()
  breakConnections()
  await server.stop()
})

function breakConnections(): void {
  for (const socket of sockets) socket.destroy()
}

async function make() {
  documents += 1
  const ids = { organizationId: 'acme', documentId: `client-${documents}`, editorId: 'main' }
  dataOf(await server.post('/v2/crdt/add', { ...ids, type: 'text', data: 'Start. ' }))
  return ids
}

const textOf = async (ids: object): Promise<string> =>
  (dataOf(await server.post('/v2/crdt/get', ids)) as [{ data: string }])[0].data

const clientAt = (url: string) => {
  const { apiKey, authToken } = server.credentials
  return createClient({ url, apiKey, authToken })
}

it('[STRM-29] streams the pieces of an iterable, and returns a result like other calls', async () => {
  const ids = await make()
  const client = clientAt(server.url)
  const progress: number[] = []
  const edit = { insert: { at: 'end' } } as const
  const onProgress = ({ received }: { received: number }) => progress.push(received)
  const result = await client.crdt.stream({ ...ids, edit }, ['One ', 'two.'], { onProgress })
  expect(result).toMatchObject({ ok: true, data: { outcome: 'done', received: 8 } })
  expect(await textOf(ids)).toBe('Start. One two.')
  expect(progress.at(-1)).toBe(8)
  const missing = await client.crdt.stream({ ...ids, edit: { replace: { find: 'nine' } } }, ['x'])
  expect(missing).toMatchObject({ ok: false, error: { code: 'crdt/target-not-found' } })
})

it('[STRM-29] throws the error of the pieces, and ends when it is aborted', async () => {
  const ids = await make()
  const client = clientAt(server.url)
  const edit = { insert: { at: 'end' } } as const
  const failing = async function* () {
    yield 'One'
    throw new Error('the model has failed')
  }
  await expect(client.crdt.stream({ ...ids, edit }, failing())).rejects.toThrow('the model has failed')
  const stop = new AbortController()
  const endless = async function* () {
    for (;;) {
      yield 'x'
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
  setTimeout(() => stop.abort(), 200)
  const result = await client.crdt.stream({ ...ids, edit }, endless(), { signal: stop.signal })
  expect(result).toMatchObject({ ok: false, error: { code: 'client/aborted' } })
})

it('[STRM-29] removes the text of a stream whose last piece withdraws it', async () => {
  const ids = await make()
  const writing = async function* () {
    yield 'One '
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(await textOf(ids)).toBe('Start. One ')
    yield { withdraw: true } as const
    yield 'two'
  }
  const result = await clientAt(server.url).crdt.stream(
    { ...ids, edit: { insert: { at: 'end' } } },
    writing(),
  )
  expect(result).toMatchObject({ ok: true, data: { outcome: 'withdrawn' } })
  expect(await textOf(ids)).toBe('Start. ')
})

it(`[STRM-29] writes the pieces to the character over a network that breaks connections (seed ${seed})`, async () => {
  const random = new Random(seed)
  const ids = await make()
  const address = proxy.address()
  const port = typeof address === 'object' ? address?.port : 0
  const client = clientAt(`http://127.0.0.1:${port}`)
  let content = ''
  const pieces = async function* () {
    for (let index = 0; index < 300; index += 1) {
      const piece = `${random.pick(['word ', '😀', '漢字', '\n'])}${index} `
      content += piece
      yield piece
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  const breaking = setInterval(breakConnections, 300)
  const result = await client.crdt.stream({ ...ids, edit: { insert: { at: 'end' } } }, pieces())
  clearInterval(breaking)
  expect(result).toMatchObject({ ok: true, data: { received: content.length } })
  expect(await textOf(ids)).toBe(`Start. ${content}`)
})

it('[STRM-102] sends many pieces with a constant number of listeners', async () => {
  const ids = await make()
  const { apiKey, authToken } = server.credentials
  const signals: AbortSignal[] = []
  const client = createClient({
    url: server.url,
    apiKey,
    authToken,
    fetch: (url, init) => {
      if (init?.signal) signals.push(init.signal)
      return fetch(url, init)
    },
  })
  let most = 0
  const pieces = async function* () {
    for (let index = 0; index < 1_000; index += 1) {
      await new Promise((resolve) => setImmediate(resolve))
      for (const signal of signals) most = Math.max(most, getEventListeners(signal, 'abort').length)
      yield 'a'
    }
  }
  const result = await client.crdt.stream({ ...ids, edit: { insert: { at: 'end' } } }, pieces())
  expect(result).toMatchObject({ ok: true, data: { received: 1_000 } })
  expect(signals.length).toBeGreaterThan(0)
  expect(most).toBeLessThan(10)
})

it('[STRM-103] continues a stream of which much more is durable than may wait', {
  timeout: 30_000,
}, async () => {
  const ids = await make()
  const opening = { ...ids, streamId: 'long', edit: { insert: { at: 'end' } } } as const
  const piece = `${'word '.repeat(199)}line\n`
  const first = await ContentStream.open(server, opening)
  for (let index = 0; index < 400; index += 1) first.text(piece)
  await first.received(400 * piece.length)
  first.endBody()
  await first.closed
  let read = 0
  const pieces = async function* () {
    for (; read < 500; read += 1) yield piece
  }
  const result = await clientAt(server.url).crdt.stream(opening, pieces())
  expect(result).toMatchObject({ ok: true, data: { received: 500 * piece.length } })
  expect(read).toBe(500)
  expect(await textOf(ids)).toBe(`Start. ${piece.repeat(500)}`)
})
