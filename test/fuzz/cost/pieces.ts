import { randomUUID } from 'node:crypto'
import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { RawClient } from '../../support/clients/clients.ts'
import { connectionOf } from '../../support/clients/hocuspocus-frames.ts'
import type { Random } from '../../support/data/random-doc.ts'
import { dataOf, type TestServer } from '../../support/servers/server.ts'
import type { Prepared } from './measure.ts'

const kinds = ['pong', 'ping', 'fragment', 'message'] as const

/** One frame, chunk of a body, or chunk of a response. Only frames have a kind. */
interface Piece {
  readonly kind: (typeof kinds)[number]
  readonly bytes: number
}

/** Input in small pieces. A search changes it to find input of which too much is read at once. */
export interface PiecePlan {
  readonly source: SourceName
  /** Number of connections that send the pieces at the same time. */
  readonly connections: number
  /** The pieces in their order, which is repeated. */
  readonly pieces: readonly Piece[]
  /** Number of ticks of the event loop between two writes; null: all bytes are written at once. */
  readonly pauseTicks: number | null
}

/** The ends of the hostile connections. */
interface Opened {
  readonly hostile: readonly Socket[]
  /** Those of the process that is measured, in any order. */
  readonly attacked: readonly Socket[]
}

/** A kind of input whose sender is not trusted. */
interface Source {
  readonly open: (server: TestServer, connections: number) => Promise<Opened>
  readonly encode: (pieces: readonly Piece[]) => Buffer
  /**
   * Maximum number of reads (64 KiB) of one tick of the event loop: the one that exceeds a budget, and one that Node keeps
   * until the connection is read again.
   */
  readonly readsMax: (connections: number) => number
}

/** All sockets that this process has accepted or opened. */
const sockets: Socket[] = []
for (const channel of ['net.server.socket', 'net.client.socket'])
  subscribe(channel, (event) => void sockets.push((event as { socket: Socket }).socket))

/** Returns the other ends of sockets of this process. */
const otherEnds = (ends: readonly Socket[]): readonly Socket[] =>
  ends.map(({ localPort, remotePort }) => {
    const other = sockets.find((each) => each.localPort === remotePort && each.remotePort === localPort)
    if (other === undefined) throw new Error('a connection has no other end in this process')
    return other
  })

const times = <T>(count: number, make: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, make))

/** Opens websockets. */
const frames = (pathOf: (server: TestServer) => Promise<string>): Source => ({
  readsMax: (connections) => 2 * connections,
  encode: framesOf,
  open: async (server, connections) => {
    const url = server.wsUrl + (await pathOf(server))
    const clients = await times(connections, () => RawClient.connect(url))
    for (const client of clients) client.closed.catch(() => {})
    const hostile = clients.map(connectionOf)
    return { hostile, attacked: otherEnds(hostile) }
  },
})

/** Begins requests whose bodies arrive in chunks. */
const bodies = (path: string, headersOf: (server: TestServer) => readonly string[]): Source => ({
  readsMax: () => 2,
  encode: chunksOf,
  open: async (server, connections) => {
    const head = [
      `POST ${path} HTTP/1.1`,
      'host: a',
      'transfer-encoding: chunked',
      ...headersOf(server),
      '',
      '',
    ]
    const hostile = await times(connections, async () => {
      const socket = connect(server.port, '127.0.0.1')
      await once(socket, 'connect')
      socket.resume().write(head.join('\r\n'))
      return socket
    })
    await ticks(20)
    return { hostile, attacked: otherEnds(hostile) }
  },
})

/** Begins responses of a receiver of callbacks, whose bodies arrive in chunks. */
const responses: Source = {
  // The first read of each response has its headers.
  readsMax: (connections) => 1 + 2 * connections,
  encode: chunksOf,
  open: async (server, connections) => {
    const receiver = createServer().listen(0, '127.0.0.1')
    const hostile: Socket[] = []
    receiver.on('connection', (socket) => {
      socket.on('error', () => {})
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
        hostile.push(socket)
      })
    })
    await once(receiver, 'listening')
    const { port } = receiver.address() as { port: number }
    const configure = async (load: object | null) =>
      dataOf(await server.post('/v2/workspace/callbacks/update', { load }))
    await configure({ url: `http://127.0.0.1:${port}/` })
    const ids = { organizationId: 'acme', editorId: 'main' }
    for (let count = 0; count < connections; count++)
      server.post('/v2/crdt/get', { ...ids, documentId: randomUUID() }).catch(() => {})
    while (hostile.length < connections) await ticks(1)
    receiver.close()
    await configure(null)
    return { hostile, attacked: otherEnds(hostile) }
  },
}

const json = 'content-type: application/json'
const credentialsOf = ({ credentials }: TestServer): readonly string[] => [
  `x-service-api-key: ${credentials.apiKey}`,
  `x-service-auth-token: ${credentials.authToken}`,
]

const sources = {
  frames: frames(async (server) => `/sync/acme/pieces/main?token=${await server.token('ada')}`),
  'frames before authentication': frames(() => Promise.resolve('/hocuspocus')),
  bodies: bodies('/v2/crdt/apply', (server) => [json, ...credentialsOf(server)]),
  'bodies without credentials': bodies('/v2/crdt/apply', () => [json]),
  'lines of streams': bodies('/v2/crdt/stream', (server) => [
    'content-type: application/x-ndjson',
    ...credentialsOf(server),
  ]),
  responses,
} as const satisfies Record<string, Source>

type SourceName = keyof typeof sources
const sourceNames = Object.keys(sources) as readonly SourceName[]

function chunksOf(pieces: readonly Piece[]): Buffer {
  const chunks = pieces.map(({ bytes }) => ' '.repeat(Math.max(1, bytes)))
  return Buffer.from(chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join(''))
}

/** An awareness message without states. Its fragments after the first are empty. */
const emptyAwareness = Buffer.of(1, 1, 0)

function framesOf(pieces: readonly Piece[]): Buffer {
  let fragments = 0
  const encoded = pieces.map(({ kind, bytes }, at) => {
    if (kind === 'ping' || kind === 'pong') return frameOf(kind === 'ping' ? 0x89 : 0x8a, Buffer.alloc(bytes))
    const [opcode, content] = fragments > 0 ? [0, Buffer.alloc(0)] : [2, emptyAwareness]
    // `ws` accepts 1,024 fragments of a message. The last message must end, because the pattern is repeated.
    const isFinal = kind === 'message' || fragments > 900 || at > pieces.length - 5
    fragments = isFinal ? 0 : fragments + 1
    return frameOf(opcode | (isFinal ? 0x80 : 0), content)
  })
  return Buffer.concat(encoded)
}

/** A frame of at most 125 bytes. The mask is zero, so the content stays unchanged. */
const frameOf = (first: number, content: Uint8Array): Buffer =>
  Buffer.concat([Buffer.of(first, 0x80 | content.length, 0, 0, 0, 0), content])

const ticks = async (count: number): Promise<void> => {
  for (let tick = 0; tick < count; tick++) await new Promise((resolve) => setImmediate(resolve))
}

const readBytes = 65_536
/** Bytes of each connection: more than one tick may read. Without a limit, one tick reads about as many. */
const connectionBytes = 6 * readBytes
/** Bytes of one write of a plan with pauses: more than one tick may read of a connection. */
const writeBytes = 3 * readBytes
/** Ticks without any byte after which the attack has ended: the server has closed the connections. */
const idleTicksMax = 3_000

const patternOf = ({ source, pieces }: PiecePlan): Buffer =>
  sources[source].encode(Array.from({ length: 1_000 }, (_, at) => pieces[at % pieces.length] as Piece))

/**
 * Sends the input of a plan. Returns the most bytes that the process has read of it in one tick of the event loop, as a
 * multiple of the bytes that it may read.
 */
export async function excessOf(server: TestServer, plan: PiecePlan): Promise<number> {
  const { open, readsMax } = sources[plan.source]
  const { hostile, attacked } = await open(server, plan.connections)
  const pattern = patternOf(plan)
  const bytes = Buffer.concat(
    Array.from({ length: Math.ceil(connectionBytes / pattern.length) }, () => pattern),
  )
  void write(hostile, bytes, plan.pauseTicks)
  const read = (): number => attacked.reduce((sum, { bytesRead }) => sum + bytesRead, 0)
  let [last, most, idleTicks] = [read(), 0, 0]
  const end = last + bytes.length * plan.connections
  while (last < end && idleTicks < idleTicksMax && attacked.some(({ destroyed }) => !destroyed)) {
    await ticks(1)
    most = Math.max(most, read() - last)
    idleTicks = read() > last ? 0 : idleTicks + 1
    last = read()
  }
  for (const socket of [...hostile, ...attacked]) socket.destroy()
  sockets.length = 0
  return most / (readsMax(plan.connections) * readBytes)
}

async function write(to: readonly Socket[], bytes: Buffer, pauseTicks: number | null): Promise<void> {
  const step = pauseTicks === null ? bytes.length : writeBytes
  for (let at = 0; at < bytes.length; at += step) {
    for (const socket of to) if (!socket.destroyed) socket.write(bytes.subarray(at, at + step))
    await ticks(pauseTicks ?? 0)
  }
}

const sizes = [0, 0, 1, 1, 2, 7, 60, 125] as const

const randomPiece = (random: Random): Piece => ({ kind: random.pick(kinds), bytes: random.pick(sizes) })

export const randomPiecePlan = (random: Random): PiecePlan => ({
  source: random.pick(sourceNames),
  connections: 1 + random.below(8),
  pieces: Array.from({ length: 1 + random.below(4) }, () => randomPiece(random)),
  pauseTicks: random.pick([null, null, 0, 1, 10]),
})

/** The smallest pieces of each source, in one connection and in several. */
export const plainPiecePlans: readonly PiecePlan[] = sourceNames.flatMap((source) =>
  (source.startsWith('frames') ? kinds : (['message'] as const)).flatMap((kind) =>
    [1, 8].map((connections) => ({ source, connections, pieces: [{ kind, bytes: 0 }], pauseTicks: null })),
  ),
)

/** Returns the plan with one part changed at random. It may get the source of `other`. */
export function mutatePiecePlan(plan: PiecePlan, other: PiecePlan, random: Random): PiecePlan {
  const fresh = randomPiecePlan(random)
  switch (random.below(5)) {
    case 0:
      return { ...plan, source: other.source }
    case 1:
      return { ...plan, connections: fresh.connections }
    case 2:
      return { ...plan, pauseTicks: fresh.pauseTicks }
    case 3:
      return { ...plan, pieces: [...plan.pieces, randomPiece(random)].slice(-4) }
    default:
      return { ...plan, pieces: fresh.pieces }
  }
}

/** Sources whose bytes the server keeps until all of them have arrived. */
export const keptSources: readonly SourceName[] = ['bodies', 'lines of streams', 'responses']

/** Sends n pieces of one byte. The result of the work is the memory that they take when all have arrived. */
export async function keptPieces(server: TestServer, source: SourceName, n: number): Promise<Prepared> {
  const { open, encode } = sources[source]
  const { hostile, attacked } = await open(server, 1)
  const bytes = encode(Array.from({ length: n }, () => ({ kind: 'message', bytes: 1 }) as const))
  return {
    size: n,
    run: async () => {
      const end = (attacked[0]?.bytesRead ?? 0) + bytes.length
      void write(hostile, bytes, null)
      while ((attacked[0]?.bytesRead ?? end) < end) await ticks(1)
      return attacked
    },
  }
}
