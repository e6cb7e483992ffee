import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { eventually, message, typed } from '../../support/clients/clients.ts'
import { pageSocket } from '../../support/clients/page-sockets.ts'
import { dataOf, metric, startTestServer, type TestServer } from '../../support/servers/server.ts'

const ends: (() => unknown)[] = []
// Not after each test, because some tests run at the same time.
afterAll(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

type PageSocket = InstanceType<Awaited<ReturnType<typeof pageSocket>>>

async function start(): Promise<{ server: TestServer; url: string }> {
  const server = await startTestServer()
  ends.push(() => server.stop())
  return { server, url: `${server.wsUrl}/sync/acme/plan/main?token=${await server.token('ada')}` }
}

/** Waits until a socket is open or closed, and returns the code if it was closed. */
const settled = (socket: PageSocket): Promise<number | null> =>
  new Promise((resolve) => {
    ends.push(() => socket.close())
    socket.addEventListener('open', () => resolve(null))
    socket.addEventListener('close', (event) => resolve((event as CloseEvent).code))
  })

const connections = ({ server }: { server: TestServer }, transport: string): Promise<number> =>
  metric(server, `weft_connections{protocol="y-websocket",transport="${transport}"`)

/** A class of websockets that can be made to fail, as behind a proxy that rejects them. */
function rejectable() {
  const state = { isRejected: true, attempts: 0 }
  class Rejectable extends WebSocket {
    constructor(url: string) {
      state.attempts += 1
      super(state.isRejected ? 'ws://127.0.0.1:1' : url)
    }
  }
  return { state, Socket: Rejectable as never }
}

it('[TRANS-51] uses a websocket if it works, and reports the close code of the server', async () => {
  const { server, url } = await start()
  const Socket = await pageSocket()
  const socket = new Socket(url)
  expect(socket.readyState).toBe(socket.CONNECTING)
  expect(() => socket.send(new Uint8Array(1))).toThrow('not open')
  expect(await settled(socket)).toBeNull()
  expect(await connections({ server }, 'websocket')).toBe(1)
  const closed = once(socket, 'close') as Promise<[CloseEvent]>
  dataOf(await server.post('/v2/auth/revoke_tokens', { userId: 'ada' }))
  expect((await closed)[0]).toMatchObject({ code: 4401, wasClean: true })
  expect(socket.readyState).toBe(Socket.CLOSED)
})

it('[TRANS-52] uses HTTP after two failures, remembers that, and later tries a websocket again', async () => {
  const { server, url } = await start()
  const { state, Socket: Rejectable } = rejectable()
  const retryMs = 1_500
  const Socket = await pageSocket({ WebSocket: Rejectable, retryMs })
  expect(await settled(new Socket(url))).toBe(1006)
  expect(await settled(new Socket(url))).toBeNull()
  expect(state.attempts).toBe(2)
  const since = Date.now()
  expect(await settled(new Socket(url))).toBeNull()
  expect(state.attempts).toBe(2)
  expect(await connections({ server }, 'http')).toBe(2)
  state.isRejected = false
  await new Promise((resolve) => setTimeout(resolve, since + retryMs + 100 - Date.now()))
  expect(await settled(new Socket(url))).toBeNull()
  expect(state.attempts).toBe(3)
  expect(await connections({ server }, 'websocket')).toBe(1)
})

it('[TRANS-53] uses HTTP at once if the handshake of a websocket stalls', async () => {
  const { server, url } = await start()
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  ends.push(() => silent.close())
  const stalled = `ws://127.0.0.1:${(silent.address() as AddressInfo).port}`
  class Stalled extends WebSocket {
    constructor() {
      super(stalled)
    }
  }
  const Socket = await pageSocket({ WebSocket: Stalled as never, stallMs: 300 })
  expect(await settled(new Socket(url))).toBeNull()
  expect(await connections({ server }, 'http')).toBe(1)
})

it('[TRANS-54] keeps at most four requests of one page waiting, and all its clients get messages', async () => {
  const { server, url } = await start()
  let [held, heldMax] = [0, 0]
  const counting: typeof fetch = async (input, init) => {
    if (init?.method === 'POST') return fetch(input, init)
    held += 1
    heldMax = Math.max(heldMax, held)
    let isHeld = true
    const release = (): void => {
      if (isHeld) held -= 1
      isHeld = false
    }
    init?.signal?.addEventListener('abort', release)
    const response = await fetch(input, init)
    const body = response.body?.pipeThrough(new TransformStream({ flush: release }))
    return new Response(body ?? null, response)
  }
  const Socket = await pageSocket({ WebSocket: null, fetch: counting })
  const sockets = Array.from({ length: 9 }, () => new Socket(url))
  const received = sockets.map((socket) => {
    const messages: Uint8Array[] = []
    socket.binaryType = 'arraybuffer'
    socket.addEventListener('message', (event) =>
      messages.push(new Uint8Array((event as MessageEvent<ArrayBuffer>).data)),
    )
    return messages
  })
  expect(await Promise.all(sockets.map(settled))).toEqual(sockets.map(() => null))
  expect(await connections({ server }, 'http')).toBe(9)
  sockets[0]?.send(message([0, 2], typed('seen by all', 7)) as Uint8Array<ArrayBuffer>)
  const isSeen = (messages: readonly Uint8Array[]): boolean =>
    messages.some((bytes) => Buffer.from(bytes).includes('seen by all'))
  await eventually(() => received.slice(1).every(isSeen))
  expect(heldMax).toBe(4)
})

it('[TRANS-55] sends messages that were sent before `close`, and ends the session', async () => {
  const { server, url } = await start()
  const Socket = await pageSocket({ WebSocket: null })
  const socket = new Socket(url)
  expect(await settled(socket)).toBeNull()
  const update = message([0, 2], typed('sent at last', 7)) as Uint8Array<ArrayBuffer>
  socket.send(update)
  expect(socket.bufferedAmount).toBeGreaterThan(update.length)
  socket.close(1000, 'done')
  expect((await (once(socket, 'close') as Promise<[CloseEvent]>))[0]).toMatchObject({
    code: 1000,
    reason: 'done',
  })
  expect(await connections({ server }, 'http')).toBe(0)
  const address = { organizationId: 'acme', documentId: 'plan', editorId: 'main' }
  await eventually(async () =>
    JSON.stringify((await server.post('/v2/crdt/get', address)).body).includes('sent at last'),
  )
})

/** A page that a proxy sends instead of the response. */
const page = (): Response => new Response('<html>Sign in</html>')
const wordsOf = async (server: TestServer): Promise<string> =>
  JSON.stringify(
    (await server.post('/v2/crdt/get', { organizationId: 'acme', documentId: 'plan', editorId: 'main' }))
      .body,
  )
const words = (text: string, client = 7): Uint8Array<ArrayBuffer> =>
  message([0, 2], typed(text, client)) as Uint8Array<ArrayBuffer>
const closing = (socket: PageSocket): Promise<CloseEvent> =>
  new Promise((resolve) => socket.addEventListener('close', (event) => resolve(event as CloseEvent)))

it('[TRANS-56] loses no later message if a proxy answers an acknowledgment with a page', async () => {
  const { server, url } = await start()
  let pages = 0
  const proxied: typeof fetch = async (input, init) => {
    if (init?.method !== 'POST' || (init.body as Blob).size > 0 || pages === 1) return fetch(input, init)
    pages += 1
    return page()
  }
  const Socket = await pageSocket({ WebSocket: null, fetch: proxied })
  const socket = new Socket(url)
  expect(await settled(socket)).toBeNull()
  socket.send(words('first'))
  await eventually(() => socket.bufferedAmount === 0)
  const large = {
    organizationId: 'acme',
    documentId: 'plan',
    editorId: 'main',
    contentKey: 'long',
    newRoot: true,
  }
  dataOf(
    await server.post('/v2/crdt/update', { ...large, type: 'text', data: 'x'.repeat(100_000), upsert: true }),
  )
  await eventually(() => pages === 1)
  socket.send(words('second', 8))
  await eventually(async () => (await wordsOf(server)).includes('second'))
  expect(socket.readyState).toBe(socket.OPEN)
})

it('[TRANS-101] opens new connections although earlier responses neither end nor fail after they were aborted', async () => {
  const { url } = await start()
  const endless: typeof fetch = async (input, init = {}) => {
    const response = await fetch(input, { ...init, signal: null })
    if (init.method === 'POST') return response
    const body = response.body?.pipeThrough(new TransformStream({ flush: () => new Promise(() => {}) }))
    return new Response(body ?? null, response)
  }
  const Socket = await pageSocket({ WebSocket: null, fetch: endless })
  for (let connection = 0; connection < 6; connection++) {
    const socket = new Socket(url)
    expect(await settled(socket)).toBeNull()
    const closed = once(socket, 'close')
    socket.close()
    await closed
  }
})

it('[TRANS-102] keeps a stream open although its first events arrive together', async () => {
  const aborts: (AbortSignal | null | undefined)[] = []
  const idle: typeof fetch = async (_, init) => {
    aborts.push(init?.signal)
    const body = new ReadableStream({
      start: (stream) => stream.enqueue(new TextEncoder().encode('event: open\ndata: {}\n\n')),
    })
    return new Response(body)
  }
  const stallMs = 50
  const Socket = await pageSocket({ WebSocket: null, fetch: idle, stallMs })
  expect(await settled(new Socket('ws://127.0.0.1/sync/acme/plan/main'))).toBeNull()
  await new Promise((resolve) => setTimeout(resolve, 3 * stallMs))
  expect(aborts.map((signal) => signal?.aborted)).toEqual([false])
})

it('[TRANS-103] closes if its session is lost before the first message, so that Hocuspocus connects again', async () => {
  const [{ server: killed }, { server: living }] = [await start(), await start()]
  const stopped = new AbortController()
  let node = killed
  const balanced: typeof fetch = (input, init = {}) => {
    const { pathname, search } = new URL(String(input))
    const signals = [init.signal ?? [], node === killed ? stopped.signal : []].flat()
    return fetch(`${node.url}${pathname}${search}`, { ...init, signal: AbortSignal.any(signals) })
  }
  const Socket = await pageSocket({ WebSocket: null, fetch: balanced })
  const socket = new Socket('ws://127.0.0.1/hocuspocus')
  const closed = closing(socket)
  expect(await settled(socket)).toBeNull()
  node = living
  stopped.abort()
  expect(await closed).toMatchObject({ code: 1013, reason: 'unknown session; connect again' })
})

// Each of the following tests waits for the client, for up to 22 s.
it.concurrent('[TRANS-56] [TRANS-89] if a proxy answers each POST with a page, repeats it after growing waits, and then closes', async () => {
  const { url } = await start()
  const sentAtMs: number[] = []
  const proxied: typeof fetch = async (input, init) => {
    if (init?.method !== 'POST') return fetch(input, init)
    sentAtMs.push(performance.now())
    return page()
  }
  const Socket = await pageSocket({ WebSocket: null, fetch: proxied })
  const socket = new Socket(url)
  const closed = closing(socket)
  expect(await settled(socket)).toBeNull()
  socket.send(words('unsent'))
  expect(await closed).toMatchObject({ code: 1006, wasClean: false })
  const waits = sentAtMs.slice(1).map((time, index) => time - (sentAtMs[index] ?? 0))
  const least = [200, 400, 800, 1_600, 3_200, 3_200, 3_200, 3_200, 3_200]
  expect(waits.length).toBeGreaterThanOrEqual(least.length)
  for (const [index, ms] of least.entries()) expect(waits[index]).toBeGreaterThan(ms * 0.9)
}, 60_000)

it.concurrent('[TRANS-88] repeats the end of a session until the server has received it', async () => {
  const { server, url } = await start()
  let attempts = 0
  const failing: typeof fetch = async (input, init) => {
    if (init?.method !== 'POST') return fetch(input, init)
    attempts += 1
    if (attempts === 1) throw new TypeError('no network')
    return attempts === 2 ? page() : fetch(input, init)
  }
  const Socket = await pageSocket({ WebSocket: null, fetch: failing })
  const socket = new Socket(url)
  expect(await settled(socket)).toBeNull()
  const closed = closing(socket)
  socket.send(words('sent at last'))
  socket.close(1000, 'done')
  expect(await closed).toMatchObject({ code: 1000, reason: 'done' })
  expect(attempts).toBe(3)
  expect(await connections({ server }, 'http')).toBe(0)
  await eventually(async () => (await wordsOf(server)).includes('sent at last'))
})

it.concurrent('[TRANS-88] closes after some attempts if no request reaches the server', async () => {
  const { url } = await start()
  let attempts = 0
  const failing: typeof fetch = async (input, init) => {
    if (init?.method !== 'POST') return fetch(input, init)
    attempts += 1
    throw new TypeError('no network')
  }
  const Socket = await pageSocket({ WebSocket: null, fetch: failing })
  const socket = new Socket(url)
  expect(await settled(socket)).toBeNull()
  const closed = closing(socket)
  socket.close(1000)
  expect(await closed).toMatchObject({ code: 1000 })
  expect(attempts).toBe(5)
}, 60_000)

it.concurrent('[TRANS-90] uses streams again some time after a slow POST', async () => {
  const { server, url } = await start()
  const gets: ('poll' | 'stream')[] = []
  let posts = 0
  const slow: typeof fetch = async (input, init) => {
    if (init?.method === 'POST') {
      posts += 1
      if (posts === 1) await new Promise((resolve) => setTimeout(resolve, 500))
    } else gets.push(new URL(String(input)).searchParams.has('wait') ? 'poll' : 'stream')
    return fetch(input, init)
  }
  const Socket = await pageSocket({ WebSocket: null, fetch: slow, stallMs: 500 })
  const socket = new Socket(url)
  expect(await settled(socket)).toBeNull()
  socket.send(words('slow'))
  await eventually(() => gets.includes('poll'))
  const polledFrom = gets.length
  await eventually(
    () => gets.indexOf('stream', polledFrom) !== -1,
    () => gets,
    40_000,
  )
  expect(gets[0]).toBe('stream')
  socket.send(words('fast', 8))
  await eventually(async () => (await wordsOf(server)).includes('fast'))
  expect(gets.at(-1)).toBe('stream')
}, 60_000)
