import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import { writeAwareness } from '../../../src/core/update/awareness.ts'
import { MalformedUpdateError } from '../../../src/core/update/malformed.ts'
import { readUpdate } from '../../../src/core/update/read-update.ts'
import type { UpdateSummary } from '../../../src/core/update/summary.ts'
import { message } from '../clients/clients.ts'
import type { Random } from '../data/random-doc.ts'
import { bytesOf, craftUpdate, varString, varUint } from './crafted-updates.ts'
import { mutate } from './mutations.ts'

/** The connection of a hostile client, with the knowledge of this client. */
export interface Hostile {
  readonly socket: WebSocket
  /** TCP connection of `socket`, for sending bytes that are not valid frames. */
  readonly connection: Socket
  readonly random: Random
  /** Clocks of the document that the client knows. */
  readonly clocks: Map<number, number>
  /** Updates of honest users who edit a document. */
  readonly genuine: readonly Uint8Array[]
}

type Send = (hostile: Hostile) => void

const craftedClients = [1, 2, 3, 4]

/**
 * Returns an update that the server accepts and broadcasts. Only few of these updates may create a map entry
 * with several values, because such an entry closes the connection.
 */
function takenUpdate({ clocks, random }: Hostile): Uint8Array {
  for (;;) {
    const update = craftUpdate(clocks, random)
    const summary = summaryOf(update)
    if (summary === null || (summary.longRuns > 0 && random.below(100) > 0)) continue
    for (const { client, to } of summary.clients) clocks.set(client, Math.max(to, clocks.get(client) ?? 0))
    return update
  }
}

/**
 * Returns the summary of an update; null if the server would reject the update. The fatal frames contain such
 * updates.
 */
function summaryOf(update: Uint8Array): UpdateSummary | null {
  try {
    return readUpdate(update)
  } catch (error) {
    if (error instanceof MalformedUpdateError) return null
    throw error
  }
}

/** Returns an update that types a text after a large gap in the clocks of a client. */
function beyondGap({ clocks, random }: Hostile): Uint8Array {
  const client = random.pick([...craftedClients, 5 + random.below(5_000)])
  const start = (clocks.get(client) ?? 0) + 1 + random.below(random.pick([3, 1_000, 2 ** 30]))
  return bytesOf(1, 1, varUint(client), varUint(start), 4, 1, varString('t'), varString('late'), 0)
}

function vectorOf({ clocks, random }: Hostile): Uint8Array {
  const known = [...clocks].filter(() => random.below(2) === 0)
  const told = known.map(([client, clock]) => [...varUint(client), ...varUint(random.below(clock + 3))])
  return bytesOf(told.length, told.flat())
}

const states = [
  '{"cursor":{"anchor":1,"head":2}}',
  '{"user":{"name":"Mallory","id":"admin"}}',
  '{"__proto__":{"admin":true},"constructor":{"prototype":{}}}',
  '{"user":{"__proto__":null,"toString":1}}',
  '{"a":',
  '[]',
  '"text"',
  '1e999',
  '{"\\ud800":"\\udfff"}',
  'null',
  `{"deep":${'['.repeat(500)}${']'.repeat(500)}}`,
  `{"long":"${'x'.repeat(20_000)}"}`,
]

function awareness({ random }: Hostile): Uint8Array {
  const count = random.pick([0, 1, 1, 1, 2, 40])
  const own = 1 + random.below(50)
  const shown = Array.from({ length: count }, () => ({
    clientId: random.below(3) > 0 ? own : random.pick([0, 7, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1]),
    clock: random.pick([0, 1, random.below(1_000), 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1]),
    text: count > 2 ? '{}' : random.pick(states),
  }))
  return writeAwareness(shown)
}

function inPieces({ socket, random }: Hostile, bytes: Uint8Array): void {
  const cut = random.below(bytes.length)
  socket.send(bytes.subarray(0, cut), { fin: false })
  socket.ping()
  socket.send(bytes.subarray(cut), { fin: true })
}

/** Functions that send frames after which the client stays connected. */
const harmless = {
  genuine: (hostile) => hostile.socket.send(message([0, 2], hostile.random.pick(hostile.genuine))),
  crafted: (hostile) => hostile.socket.send(message([0, 2], takenUpdate(hostile))),
  offer: (hostile) => hostile.socket.send(message([0, 1], takenUpdate(hostile))),
  twice: (hostile) => {
    const bytes = message([0, 2], takenUpdate(hostile))
    for (let time = 0; time < 2; time++) hostile.socket.send(bytes)
  },
  gap: (hostile) => hostile.socket.send(message([0, 2], beyondGap(hostile))),
  pieces: (hostile) => inPieces(hostile, message([0, 2], takenUpdate(hostile))),
  vector: (hostile) => hostile.socket.send(message([0, 0], vectorOf(hostile))),
  awareness: (hostile) => hostile.socket.send(message([1], awareness(hostile))),
  queryAwareness: ({ socket }) => socket.send(Uint8Array.of(3)),
  ping: ({ socket, random }) => socket.ping(Buffer.alloc(random.below(126))),
  pong: ({ socket, random }) => socket.pong(Buffer.alloc(random.below(126))),
} satisfies Record<string, Send>

/**
 * Bytes that are not valid frames of a client. They are unmasked, reserved or oversized, have an impossible
 * length, are out of order, or are incomplete.
 */
const brokenFrames = [
  [0x82, 0x02, 0x03, 0x03],
  [0xf2, 0x80, 0, 0, 0, 0],
  [0x83, 0x80, 0, 0, 0, 0],
  [0x89, 0xfe, 0x00, 0x80, 0, 0, 0, 0],
  [0x82, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0],
  [0x82, 0xff, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0],
  [0x80, 0x80, 0, 0, 0, 0],
  [0x88, 0x82, 0, 0, 0, 0, 0x00, 0x01],
  [0x88, 0x83, 0, 0, 0, 0, 0x03, 0xe8, 0xff],
  [0x81, 0x82, 0, 0, 0, 0, 0xc3, 0x28],
]

const giants = [
  [255, 255, 255, 255, 127],
  Array.from({ length: 20 }, () => 255),
  [128, 128, 128, 128, 128, 128, 1],
]

/** Functions that send frames after which the server nearly always closes the connection. */
const fatal = {
  text: ({ socket, random }) => socket.send(random.pick(['', '{"type":"sync"}', '\0', '😀'])),
  unknown: ({ socket, random }) =>
    socket.send(bytesOf(random.pick([4, 5, 110, 127, 128, 255]), random.below(256))),
  auth: ({ socket }) => socket.send(bytesOf(2, 0, varString('permission denied'))),
  empty: ({ socket }) => socket.send(new Uint8Array()),
  giantVarint: ({ socket, random }) =>
    socket.send(bytesOf(random.pick([[0, 0], [0, 1], [0, 2], [1]]), random.pick(giants), 1, 2, 3)),
  giantNumber: ({ socket, random }) =>
    socket.send(message(random.pick([[0, 0], [0, 1], [0, 2], [1]]), bytesOf(random.pick(giants), 0))),
  mutated: ({ socket, random, genuine }) =>
    socket.send(message([0, 2], mutate(random.pick(genuine), random.pick(genuine), random))),
  mutatedFrame: (hostile) => {
    const { socket, random, genuine } = hostile
    const bytes = random.pick([message([0, 2], takenUpdate(hostile)), message([1], awareness(hostile))])
    socket.send(mutate(bytes, random.pick(genuine), random))
  },
  duplicateClient: ({ socket, random }) => {
    const block = [1, random.pick(craftedClients), 0, 4, 1, ...varString('t'), ...varString('x')]
    socket.send(message([0, 2], bytesOf(2, block, block, 0)))
  },
  clockOverflow: ({ socket, random }) => {
    const start = random.pick([2 ** 31 - 2, 2 ** 31, 2 ** 32, 2 ** 52])
    socket.send(
      message([0, 2], bytesOf(1, 1, 1, varUint(start), 4, 1, varString('t'), varString('abcdef'), 0)),
    )
  },
  cut: (hostile) => {
    const bytes = message([0, 2], takenUpdate(hostile))
    hostile.socket.send(bytes.subarray(0, hostile.random.below(bytes.length)))
  },
  brokenFrame: ({ connection, random }) => connection.write(Uint8Array.from(random.pick(brokenFrames))),
  halfFrame: ({ connection }) => {
    connection.write(Uint8Array.of(0x82, 0xfe, 0x10, 0x00, 0, 0, 0, 0, 0, 2))
    connection.end()
  },
  gone: ({ connection }) => connection.destroy(),
} satisfies Record<string, Send>

export type FrameKind = keyof typeof harmless | keyof typeof fatal

const kindsOf = <Kind extends string>(table: Record<Kind, Send>) => Object.keys(table) as Kind[]
const harmlessKinds = kindsOf(harmless)
const fatalKinds = kindsOf(fatal)

/** Sends a random frame after which the client stays connected. Some frames are sent twice or in pieces. */
export function sendHarmless(hostile: Hostile): FrameKind {
  const kind = hostile.random.pick(harmlessKinds)
  harmless[kind](hostile)
  return kind
}

/** Sends a random frame after which the server should close the connection. */
export function sendFatal(hostile: Hostile): FrameKind {
  const kind = hostile.random.pick(fatalKinds)
  fatal[kind](hostile)
  return kind
}
