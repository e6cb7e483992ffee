import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { message } from '../clients/clients.ts'
import { tokenFrame } from '../clients/hocuspocus-frames.ts'
import { hostileAwareness } from '../faults/hostile-messages.ts'
import { hostileUpdates } from '../faults/hostile-shapes.ts'
import {
  type Attack,
  call,
  counter,
  editorOf,
  hostileAddress,
  openSocket,
  post,
  rawConnection,
  served,
  sleep,
  store,
  syncUrl,
  type Target,
  taken,
  together,
} from './attack.ts'

const randomText = (characters: number): string =>
  Array.from({ length: characters / 10 }, () => Math.random().toString(36).slice(2, 11).padEnd(10)).join('')

/** Reads and replaces documents that occupy threads for a long time. */
const threadQueue: Attack = {
  finding: 7,
  documents: ['threads-0', 'threads-1', 'threads-2', 'threads-3'],
  delaysCalls: true,
  prepare: async (target) => {
    const documents = ['threads-0', 'threads-1', 'threads-2', 'threads-3']
    const next = counter()
    for (const document of documents) {
      await post(target, '/v2/crdt/add', { ...editorOf(document), type: 'text', data: randomText(500_000) })
      for (const update of hostileUpdates.prependsOverAppends(20_000)) await store(target, document, update)
    }
    const texts = [randomText(500_000), randomText(500_000)]
    return () =>
      together(16, async (index) => {
        const document = { ...editorOf(documents[index % documents.length] ?? ''), contentKey: 'content' }
        if (index % 2 === 0) await post(target, '/v2/crdt/get', { ...document, format: 'json' })
        else await post(target, '/v2/crdt/update', { ...document, type: 'text', data: texts[next() % 2] })
      })
  },
}

/** Connects to documents that do not exist. */
const newDocuments: Attack = {
  finding: 8,
  documents: [],
  prepare: async (target) => {
    const next = counter()
    return () =>
      together(50, async () => {
        const socket = await openSocket(syncUrl(target, `new-${next()}`))
        if (socket !== null) await served(socket)
        socket?.terminate()
      })
  },
}

const awareness: Attack = {
  finding: 10,
  documents: ['awareness'],
  prepare: async (target) => {
    const made = [
      hostileAwareness.clients(1_000),
      hostileAwareness.removals(5_000),
      hostileAwareness.clocks(5_000),
    ]
    const large = [
      hostileAwareness.keys(20_000),
      hostileAwareness.deepState(20_000),
      hostileAwareness.oneState(200_000),
    ]
    const messages = [...made, ...large].map((bytes) => message([1], bytes))
    return () =>
      together(10, async () => {
        const socket = await openSocket(syncUrl(target, 'awareness'))
        if (socket === null) return
        for (let times = 0; times < 5; times += 1) for (const each of messages) socket.send(each)
        await served(socket)
        socket.terminate()
      })
  },
}

/** Makes large calls with idempotency keys, whose responses the server stores. */
const idempotentCalls: Attack = {
  finding: 10,
  documents: ['idempotent'],
  prepare: async (target) => {
    const next = counter()
    const data = randomText(100_000)
    await post(target, '/v2/crdt/add', { ...editorOf('idempotent'), type: 'text', data })
    return () =>
      together(16, () =>
        post(
          target,
          '/v2/crdt/update',
          { ...editorOf('idempotent'), type: 'text', data: `${next()} ${data}` },
          { 'idempotency-key': `key-${next()}` },
        ),
      )
  },
}

/** Sends pipelined requests, and does not read the responses. */
const pipelining: Attack = {
  finding: 10,
  documents: [],
  prepare: async (target) => {
    const paths = ['/docs/reference', '/healthz', '/docs/style.css', '/openapi.json']
    const requests = paths.map((path) => `GET ${path} HTTP/1.1\r\nhost: weft\r\n\r\n`).join('')
    return async () => {
      const connections = Array.from({ length: 50 }, () => {
        const connection = rawConnection(target)
        connection.pause()
        connection.write(requests.repeat(200))
        return connection
      })
      await sleep(1_000)
      for (const connection of connections) connection.destroy()
    }
  },
}

/** Sends a large first part of each body, and then one byte at a time. */
const slowBodies: Attack = {
  finding: 10,
  documents: [],
  prepare: async (target) => {
    const own = Object.entries(target.headers).map(([name, value]) => `${name}: ${value}\r\n`)
    const head = `POST /v2/crdt/apply HTTP/1.1\r\nhost: weft\r\n${own.join('')}content-type: application/json\r\ncontent-length: 16000000\r\n\r\n`
    const first = Buffer.alloc(15_000_000, ' ')
    const connections = Array.from({ length: 60 }, () => {
      const connection = rawConnection(target)
      connection.resume()
      connection.write(head)
      connection.write(first)
      return connection
    })
    return async () => {
      await Promise.all(connections.map((connection) => taken(connection)))
      for (const connection of connections) connection.write(' ')
      await sleep(200)
    }
  },
}

/** Sends bodies in chunks of one byte, as fast as the server reads them. */
const chunkedBodies = (headersOf: (target: Target) => Readonly<Record<string, string>>): Attack => ({
  finding: 11,
  documents: [],
  prepare: async (target) => {
    const own = Object.entries(headersOf(target)).map(([name, value]) => `${name}: ${value}\r\n`)
    const head = `POST /v2/crdt/apply HTTP/1.1\r\nhost: weft\r\n${own.join('')}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`
    const chunks = Buffer.from('1\r\n \r\n'.repeat(10_000))
    let open: Socket[] = []
    return async () => {
      open = open.filter(({ destroyed, writable }) => !destroyed && writable)
      while (open.length < chunkedConnections) {
        const connection = rawConnection(target)
        connection.resume()
        connection.write(head)
        open.push(connection)
      }
      for (const connection of open)
        if (connection.writableLength < queuedChunkBytes) connection.write(chunks)
      await sleep(10)
    }
  },
})

const chunkedConnections = 150
const queuedChunkBytes = 200_000

const chunksUnsigned = chunkedBodies(() => ({}))
const chunksSigned = chunkedBodies(({ headers }) => headers)

/** Alternates between connections that are closed immediately and upgrades with malformed tokens. */
const connects: Attack = {
  finding: 10,
  documents: [],
  prepare: async (target) => {
    const url = `${target.wsUrl}/sync/hostile/x/main?token=${'a'.repeat(2_000)}`
    return () =>
      together(100, async (index) => {
        if (index % 2 === 0) rawConnection(target).destroySoon()
        else (await openSocket(url))?.terminate()
      })
  },
}

/** Sends tokens that are not valid, in calls and on multiplexed websockets. */
const badTokens: Attack = {
  finding: 10,
  documents: [],
  prepare: async (target) => {
    const forged = `${target.token.slice(0, -20)}${'A'.repeat(20)}`
    return () =>
      together(20, async (index) => {
        if (index % 2 === 0) {
          await call(target, '/v2/crdt/get', {
            method: 'POST',
            headers: { authorization: `Bearer ${forged}` },
          })
          return
        }
        const socket = await openSocket(`${target.wsUrl}/hocuspocus`)
        for (let times = 0; times < 500; times += 1)
          socket?.send(tokenFrame(`hostile/bad-${times}/main`, forged))
        await sleep(200)
        socket?.terminate()
      })
  },
}

/**
 * Opens editors whose initial content the server loads from the tenant. The answers of the tenant are chunks of one
 * byte that never end.
 */
const chunkedAnswers: Attack = {
  finding: 11,
  documents: [],
  prepare: async (target) => {
    const receiver = createServer((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'application/json' })
      const flood = (): void => {
        while (!response.destroyed && response.write(' '));
        if (!response.destroyed) response.once('drain', flood)
      }
      response.on('error', () => {})
      flood()
    }).listen(0, hostileAddress)
    await once(receiver, 'listening')
    const { port } = receiver.address() as AddressInfo
    const load = { url: `http://${hostileAddress}:${port}/`, timeoutMs: 5_000 }
    await post(target, '/v2/workspace/callbacks/update', { load })
    const next = counter()
    return () =>
      together(20, async () => {
        const socket = await openSocket(syncUrl(target, `loaded-${next()}`))
        if (socket !== null) await served(socket)
        socket?.terminate()
      })
  },
}

export const floodAttacks = {
  badTokens,
  chunkedAnswers,
  threadQueue,
  newDocuments,
  awareness,
  idempotentCalls,
  pipelining,
  slowBodies,
  chunksUnsigned,
  chunksSigned,
  connects,
}
