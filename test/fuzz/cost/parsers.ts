import * as Y from 'yjs'
import { DocumentState } from '../../../src/core/rooms/document/document-state.ts'
import { structsPerTick } from '../../../src/core/rooms/document/integration-limits.ts'
import {
  hocuspocus,
  readAuthRequest,
  readRoutedMessage,
} from '../../../src/core/sync/protocols/hocuspocus.ts'
import type { Protocol } from '../../../src/core/sync/protocols/message.ts'
import { yWebsocket } from '../../../src/core/sync/protocols/y-websocket.ts'
import { AttributionBuilder } from '../../../src/core/update/attribution/attribution-builder.ts'
import { readAwareness } from '../../../src/core/update/awareness.ts'
import { checkPlaces } from '../../../src/core/update/check-places.ts'
import { joinUpdates } from '../../../src/core/update/join-updates.ts'
import { readOutline } from '../../../src/core/update/outline.ts'
import { readUpdate } from '../../../src/core/update/read-update.ts'
import { splitUpdate } from '../../../src/core/update/split-update.ts'
import { readStateVector, writeStateVector } from '../../../src/core/update/state-vector.ts'
import { readStatistics } from '../../../src/core/update/statistics.ts'
import { isPlain } from '../../../src/core/update/summary.ts'
import { message } from '../../support/clients/clients.ts'
import { orderedPlans, updatesOf } from '../../support/data/update-plans.ts'
import { hostileAwareness, hostileVectors } from '../../support/faults/hostile-messages.ts'
import { hostileUpdates } from '../../support/faults/hostile-shapes.ts'
import type { Probe } from './measure.ts'

/** The functions of session and room that read an update before Yjs does. */
const updateReaders: Readonly<Record<string, (bytes: Uint8Array) => unknown>> = {
  'vetting of an update': (bytes) => readUpdate(bytes),
  'comparison with the clocks of a document': (bytes) => {
    const summary = readUpdate(bytes)
    const clocks = new Map(summary.clients.map(({ client, from }) => [client, from]))
    return isPlain(summary, clocks)
  },
  'places of the items of an update': (bytes) => checkPlaces(bytes, new Y.Doc()),
  'outline of an update': readOutline,
  'statistics of an update': readStatistics,
  'authors of an update': (bytes) => {
    const builder = new AttributionBuilder()
    builder.add({ bytes, by: 'ada', at: 0 })
    return builder.build()
  },
  'joining of an update': (bytes) => joinUpdates([bytes]),
}

const messageReaders: Readonly<Record<string, (message: Uint8Array) => unknown>> = {
  'y-websocket message': (bytes) => yWebsocket.decode(bytes),
  'hocuspocus message': (bytes) => addressed(hocuspocus('a/b/c'), bytes),
}

function addressed(protocol: Protocol, bytes: Uint8Array): unknown {
  const frame = Buffer.concat([Buffer.from([5, 97, 47, 98, 47, 99]), bytes])
  const read = readRoutedMessage(frame)
  return read.kind === 'document' ? [readAuthRequest(read.message), protocol.decode(read.message)] : read
}

/** Messages of every kind, by their first bytes. */
const messageTypes: readonly (readonly number[])[] = [
  [0, 0],
  [0, 1],
  [0, 2],
  [1],
  [2, 0],
  [3],
  [4, 1],
  [5],
  [7],
  [8],
  [9],
  [10],
  [102],
  [110],
]

/** The smallest n of a shape: work of order n² is then above the floor of the meters. */
const sizeMin = 1_024
/** The largest n of a shape: about 2 MB of input. */
const sizeMax = 128_000

const probe = (
  name: string,
  make: (n: number) => Uint8Array,
  read: (bytes: Uint8Array) => unknown,
): Probe => ({
  name,
  from: sizeMin,
  to: sizeMax,
  prepare: (n) => {
    const bytes = make(n)
    return { size: bytes.length, run: () => quietly(() => read(bytes)) }
  },
})

function quietly(work: () => unknown): unknown {
  try {
    return work()
  } catch {
    return null
  }
}

const each = <Shape>(shapes: Readonly<Record<string, Shape>>): [string, Shape][] => Object.entries(shapes)

/** Several readers share the same bytes. */
function remembered(make: (n: number) => Uint8Array): (n: number) => Uint8Array {
  const made = new Map<number, Uint8Array>()
  return (n) => {
    const bytes = made.get(n) ?? make(n)
    made.set(n, bytes)
    return bytes
  }
}

/** Returns the longest update of a shape. */
function longest(updates: readonly Uint8Array[]): Uint8Array {
  return updates.reduce((largest, update) => (update.length > largest.length ? update : largest))
}

/** Integrates updates into a document, as a room does. */
function integrated(updates: readonly Uint8Array[]): DocumentState {
  const state = DocumentState.fromBytes(null)
  for (const update of updates) state.integrate(update)
  return state
}

/** Opens a state in slices, as a room does when a client edits a large document. */
async function opened(bytes: Uint8Array): Promise<DocumentState> {
  const state = DocumentState.fromBytes(bytes)
  await state.openIn(splitUpdate(bytes, structsPerTick))
  return state
}

export const parserProbes: readonly Probe[] = [
  ...each(hostileUpdates).flatMap(([shape, make]) => {
    const made = remembered((n) => longest(make(n)))
    return each(updateReaders).map(([reader, read]) => probe(`${reader}: ${shape}`, made, read))
  }),
  ...orderedPlans.map((plan) => ({
    name: `integration: ${JSON.stringify(plan)}`,
    from: sizeMin / 4,
    to: 16_000,
    prepare: (n: number) => {
      const updates = updatesOf(plan, n)
      return { size: n, run: () => integrated(updates) }
    },
  })),
  ...orderedPlans.map((plan) => ({
    name: `opening: ${JSON.stringify(plan)}`,
    from: sizeMin,
    to: 16_000,
    prepare: (n: number) => {
      const bytes = integrated(updatesOf(plan, n)).encode()
      return { size: bytes.length, run: () => opened(bytes) }
    },
  })),
  ...each(hostileVectors).flatMap(([shape, make]) => [
    probe(`state vector: ${shape}`, make, readStateVector),
    probe(`state vector, written: ${shape}`, make, (bytes) => writeStateVector(readStateVector(bytes))),
  ]),
  ...each(hostileAwareness).map(([shape, make]) => ({
    ...probe(`awareness: ${shape}`, make, (bytes) => readAwareness(bytes)),
    // At most 1,000 states of a message are read.
    from: 64,
  })),
  ...each(messageReaders).flatMap(([reader, read]) =>
    messageTypes.flatMap((types) => [
      probe(`${reader} ${types.join(',')}`, (n) => message(types, new Uint8Array(n)), read),
      probe(`${reader} ${types.join(',')}, endless number`, (n) => endless(types, n), read),
    ]),
  ),
]

/** A variable-length number in which every byte announces another one. */
const endless = (types: readonly number[], n: number): Uint8Array =>
  Uint8Array.from([...types, ...new Uint8Array(n).fill(255)])
