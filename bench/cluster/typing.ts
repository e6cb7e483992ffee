import { setTimeout as sleep } from 'node:timers/promises'
import { answer, enter, enterAll } from '../../src/cli/bench/entering.ts'
import type { LoadSocket } from '../../src/cli/bench/load-socket.ts'
import { atRate, KeystrokeTracker, Typist, trackUpdates } from '../../src/cli/bench/typist.ts'
import { quantile } from '../support/report.ts'
import { temporaryDirectory } from '../support/server.ts'
import { type Deployment, parts, type Used, type Way } from './deployments.ts'
import type { Stores } from './stores.ts'

export interface Pace {
  /**
   * Number of rooms. Each room has one user who types on one node, and one who reads. The reader is on the
   * other node if there are two.
   */
  readonly rooms: number
  /** Number of keystrokes per second in all rooms together. */
  readonly perSecond: number
  /** Duration of the measurement in seconds. The warm-up before it has the same duration. */
  readonly seconds: number
}

/** Results of a measurement. All values except for the latencies are per received keystroke. */
export interface Typed {
  /** Time between sending and receiving a keystroke, in ms. */
  readonly p50: number
  readonly p99: number
  readonly cpu: Used
  /** Number of bytes that a reader receives. */
  readonly wireBytes: number
}

/** Measures keystrokes that are typed on one node and read on the other. */
export async function typeAcross(way: Way, stores: Stores, pace: Pace): Promise<Typed> {
  const deployment = await way.start(temporaryDirectory(), stores.newSchema())
  const { watches, typists, readers } = await enterAcross(deployment, pace.rooms)
  let next = 0
  const stop = atRate(pace.perSecond, (due) => {
    for (let index = 0; index < due; index++) typists[next++ % typists.length]?.type()
  })
  await sleep(pace.seconds * 1000)
  const of = () => ({
    count: watches.reduce((sum, { total }) => sum + total, 0),
    bytes: readers.reduce((sum, { receivedBytes }) => sum + receivedBytes, 0),
    used: deployment.used(),
  })
  const before = of()
  for (const watch of watches) watch.timing = true
  await sleep(pace.seconds * 1000)
  const after = of()
  stop()
  await deployment.kill()
  const count = after.count - before.count
  if (count === 0) throw new Error(`${way.name}: nothing has come`)
  const latencies = watches.flatMap((watch) => watch.latencies)
  return {
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    cpu: each(parts, before.used, after.used, count),
    wireBytes: (after.bytes - before.bytes) / count,
  }
}

function each<Key extends string>(
  keys: readonly Key[],
  before: Readonly<Record<Key, number>>,
  after: Readonly<Record<Key, number>>,
  count: number,
): Record<Key, number> {
  return Object.fromEntries(keys.map((key) => [key, (after[key] - before[key]) / count])) as Record<
    Key,
    number
  >
}

interface Entered {
  readonly typists: readonly Typist[]
  readonly readers: readonly LoadSocket[]
  readonly watches: readonly KeystrokeTracker[]
}

const roomName = (index: number): string => `room-${index}`

/**
 * Opens the rooms. Each client waits for an answer from the server, because it then is in the room and misses
 * no later keystroke.
 */
async function enterAcross({ writing, reading }: Deployment, rooms: number): Promise<Entered> {
  const enterAt = (server: Deployment['writing']) =>
    enterAll(rooms, async (index) => {
      const socket = await enter(server, roomName(index))
      await answer(server, socket, roomName(index))
      socket.onMessage = () => {}
      return socket
    })
  const [writers, readers] = [await enterAt(writing), await enterAt(reading)]
  const typists = writers.map((socket, index) => new Typist(socket, writing, roomName(index)))
  const watches = readers.map((socket, index) => {
    const watch = new KeystrokeTracker([typists[index] as Typist])
    trackUpdates(socket, reading, watch)
    return watch
  })
  return { typists, readers, watches }
}
