import type { LoadSocket } from '../../src/loadtest/load-socket.ts'
import { atRate, KeystrokeTracker, sleep, Typist, trackUpdates } from '../../src/loadtest/typist.ts'
import { answer, enter, enterAll } from '../load/entering.ts'
import { quantile } from '../support/report.ts'
import { temporaryDirectory } from '../support/server.ts'
import { type Deployment, parts, type Used, type Way } from './deployments.ts'
import type { Stores, Told } from './stores.ts'

export interface Pace {
  /** Each has one who types, at one node, and one who reads, at the other one where there are two. */
  readonly rooms: number
  /** Keystrokes, of all together. */
  readonly perSecond: number
  /** Measured, after as many of warming up. */
  readonly seconds: number
}

/** What came of it; all but the latencies for each keystroke that has come. */
export interface Typed {
  /** Milliseconds from sending to coming. */
  readonly p50: number
  readonly p99: number
  readonly cpu: Used
  /** Bytes that a reader has received. */
  readonly wireBytes: number
  readonly told: Told
}

/** Keystrokes typed at one node that are seen at another one. */
export async function typeAcross(way: Way, stores: Stores, pace: Pace): Promise<Typed> {
  const deployment = await way.start(temporaryDirectory(), stores.newSchema())
  const { watches, typists, readers } = await enterAcross(deployment, pace.rooms)
  let next = 0
  const stop = atRate(pace.perSecond, (due) => {
    for (let index = 0; index < due; index++) typists[next++ % typists.length]?.type()
  })
  await sleep(pace.seconds * 1000)
  const of = async () => ({
    count: watches.reduce((sum, { total }) => sum + total, 0),
    bytes: readers.reduce((sum, { receivedBytes }) => sum + receivedBytes, 0),
    used: deployment.used(),
    told: await stores.natsTold(),
  })
  const before = await of()
  for (const watch of watches) watch.timing = true
  await sleep(pace.seconds * 1000)
  const after = await of()
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
    told: each(['inMessages', 'inBytes', 'outMessages', 'outBytes'], before.told, after.told, count),
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

/** Who has been answered is in the room: nothing that is typed after that is missed. */
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
