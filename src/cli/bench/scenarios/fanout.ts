import { setTimeout as sleep } from 'node:timers/promises'
import type { Contender, Running } from '../contender.ts'
import { cpuOfTree } from '../cpu.ts'
import { enterRoom } from '../entering.ts'
import type { LoadSocket } from '../load-socket.ts'
import { quantile } from '../measure.ts'
import { deliveredPerSecond, p50, perDelivered, type Scale, type Scenario } from '../scenario.ts'
import { atRate, KeystrokeTracker, Typist, trackUpdates } from '../typist.ts'

/**
 * Maximum number of keystrokes of a writer that have been sent but not received. This number suffices to keep
 * the server busy.
 */
const windowSize = 1_024
/**
 * Number of keystrokes that a typist sends in one write. A client sends several keystrokes together if its
 * thread was busy.
 */
const together = 32
/** Character that is typed at the end of a run, and nowhere else. */
const endCharacter = 126
const endMs = 20_000

interface Room {
  readonly server: Running
  readonly typists: readonly Typist[]
  readonly readers: readonly LoadSocket[]
  /** Counts the keystrokes that one of the readers receives. */
  readonly watch: KeystrokeTracker
  /** Number of connections to which the server sends each keystroke. */
  readonly receivers: number
}

async function openRoom(contender: Contender, data: string, writers: number, readers: number): Promise<Room> {
  const server = await contender.start(data)
  const document = 'room'
  const sockets = await enterRoom(server, document, writers + readers)
  const typists = sockets.slice(0, writers).map((socket) => new Typist(socket, server, document))
  const watch = new KeystrokeTracker(typists)
  const readingSockets = sockets.slice(writers)
  trackUpdates(readingSockets[0] as LoadSocket, server, watch)
  await sleep(500)
  return { server, typists, readers: readingSockets, watch, receivers: writers + readers - 1 }
}

/** Makes the typists type as fast as the server accepts. The returned function stops them. */
function saturate({ typists, watch }: Room): () => void {
  let running = true
  const go = (): void => {
    for (const typist of typists)
      if (!typist.isHeldUp && typist.sent - watch.seenOf(typist) < windowSize) typist.type(together)
    if (running) setImmediate(go)
  }
  go()
  return () => {
    running = false
  }
}

interface Counted {
  readonly delivered: number
  readonly microseconds: number
  readonly seconds: number
}

async function count({ server, watch, receivers }: Room, seconds: number): Promise<Counted> {
  const [total, cpu, start] = [watch.total, cpuOfTree(server.pid), performance.now()]
  watch.timing = true
  await sleep(seconds * 1000)
  watch.timing = false
  return {
    delivered: (watch.total - total) * receivers,
    microseconds: cpuOfTree(server.pid) - cpu,
    seconds: (performance.now() - start) / 1000,
  }
}

/**
 * Checks that all clients have received everything.
 * @throws Error if a client has not received everything in time
 */
async function expectAllCame({ typists, readers, watch }: Room): Promise<void> {
  const deadline = performance.now() + endMs
  const wait = async (holds: () => boolean): Promise<void> => {
    while (!holds()) {
      if (performance.now() > deadline) throw new Error('some reader has not been sent everything')
      await sleep(5)
    }
  }
  await wait(() => typists.every((typist) => watch.seenOf(typist) === typist.sent))
  const ended = new Set<LoadSocket>()
  for (const reader of readers)
    reader.onMessage = (payload) => payload.includes(endCharacter) && ended.add(reader)
  typists[0]?.type(1, endCharacter)
  await wait(() => ended.size === readers.length)
}

/** Returns a scenario in which the writers type as fast as the server accepts. */
export const saturated = (name: string, writers: number, readers: number): Scenario<'cpu' | 'rate'> => ({
  name,
  needsStore: false,
  figures: { cpu: perDelivered, rate: deliveredPerSecond },
  async run(contender, data, { seconds }: Scale) {
    const room = await openRoom(contender, data, writers, readers)
    const stop = saturate(room)
    await sleep(seconds * 1000)
    const counted = await count(room, seconds)
    stop()
    await expectAllCame(room)
    await room.server.kill()
    return { cpu: counted.microseconds / counted.delivered, rate: counted.delivered / counted.seconds }
  },
})

/**
 * Returns a scenario in which the writers type at a constant rate.
 * @param perSecond number of deliveries per second to all receivers together
 */
export const pacedRoom = (
  name: string,
  writers: number,
  readers: number,
  perSecond: number,
): Scenario<'cpu' | 'p50'> => ({
  name,
  needsStore: false,
  figures: { cpu: perDelivered, p50 },
  async run(contender, data, { seconds }: Scale) {
    const room = await openRoom(contender, data, writers, readers)
    let next = 0
    const stop = atRate(perSecond / room.receivers, (due) => {
      for (let index = 0; index < due; index++) room.typists[next++ % writers]?.type()
    })
    await sleep(seconds * 1000)
    const counted = await count(room, seconds)
    stop()
    await expectAllCame(room)
    await room.server.kill()
    return { cpu: counted.microseconds / counted.delivered, p50: quantile(room.watch.latencies, 0.5) }
  },
})
