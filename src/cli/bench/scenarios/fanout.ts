import { setTimeout as sleep } from 'node:timers/promises'
import type { Contender, Running } from '../contender.ts'
import { enterRoom } from '../entering.ts'
import type { LoadSocket } from '../load-socket.ts'
import { Mover } from '../mover.ts'
import {
  deliveredPerSecond,
  perDelivered,
  type Scale,
  type Scenario,
  type TypingFigure,
  typingFigures,
} from '../scenario.ts'
import { atRate, expectExact, KeystrokeTracker, measureTyping, Typist, trackUpdates } from '../typist.ts'

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

const document = 'room'

async function openRoom(contender: Contender, data: string, writers: number, readers: number): Promise<Room> {
  const server = await contender.start(data)
  const sockets = await enterRoom(server, document, writers + readers)
  for (const socket of sockets) socket.onMessage = () => undefined
  const typists = sockets.slice(0, writers).map((socket) => new Typist(socket, server, document))
  const watch = new KeystrokeTracker(typists)
  const readingSockets = sockets.slice(writers)
  trackUpdates(readingSockets[0] as LoadSocket, server, watch)
  await sleep(500)
  return { server, typists, readers: readingSockets, watch, receivers: writers + readers - 1 }
}

/**
 * Makes the typists type as fast as the server accepts, until the returned function is called. They type when
 * something has arrived, so that the load generator is idle while it waits for the server.
 */
function saturate({ typists, watch }: Room): () => void {
  const go = (): void => {
    for (const typist of typists)
      while (!typist.isHeldUp && typist.sent - watch.seenOf(typist) <= windowSize - together)
        typist.type(together)
  }
  watch.onTaken = go
  // Continues after a typist was held up by its connection.
  const timer = setInterval(go, 5)
  go()
  return () => {
    clearInterval(timer)
    watch.onTaken = () => undefined
  }
}

/**
 * Checks that all clients have received everything.
 * @throws Error if a client has not received everything in time
 */
async function expectAllCame({ typists, readers, watch }: Room): Promise<void> {
  const deadline = performance.now() + endMs
  const [first, ...others] = readers
  const ended = new Set<LoadSocket>()
  for (const reader of others)
    reader.onMessage = (payload) => payload.includes(endCharacter) && ended.add(reader)
  typists[0]?.type(1, endCharacter)
  await expectExact([watch])
  while (ended.size < others.length && performance.now() < deadline) await sleep(5)
  if (ended.size < others.length && first !== undefined)
    throw new Error(`${others.length - ended.size} of ${readers.length} readers did not receive everything`)
}

/** Returns a scenario in which the writers type as fast as the server accepts. */
export const saturated = (
  key: string,
  name: string,
  writers: number,
  readers: number,
): Scenario<'cpu' | 'rate'> => ({
  key,
  name,
  shows: 'The largest throughput of one document. Servers that join updates deliver more with less CPU time.',
  needs: 'url',
  figures: { cpu: perDelivered, rate: deliveredPerSecond },
  async run(contender, data, { seconds }: Scale) {
    const room = await openRoom(contender, data, writers, readers)
    const stop = saturate(room)
    await sleep(seconds * 1000)
    const { figures, usage } = await measureTyping(room.server, [room.watch], seconds, room.receivers)
    stop()
    await expectAllCame(room)
    await room.server.kill()
    return { figures: { cpu: figures.cpu, rate: figures.delivered }, usage }
  },
})

/** Load of a room at a constant rate. */
interface RoomLoad {
  readonly writers: number
  readonly readers: number
  /** Number of keystrokes per second of all writers together. */
  readonly perSecond: number
  /** Whether each reader shows its cursor before the measurement. */
  readonly showsCursors: boolean
}

/** Returns a scenario in which the writers type at a constant rate. */
export const pacedRoom = (
  key: string,
  name: string,
  shows: string,
  full: RoomLoad,
): Scenario<TypingFigure> => ({
  key,
  name,
  shows,
  needs: 'url',
  figures: typingFigures,
  async run(contender, data, { size, seconds }: Scale) {
    const readers = size === 'full' ? full.readers : Math.min(full.readers, 20)
    const room = await openRoom(contender, data, full.writers, readers)
    const { server } = room
    if (full.showsCursors) {
      const others = room.readers.slice(1)
      const movers = others.map((socket, index) => new Mover(1_000 + index, socket, server.dialect, document))
      for (const mover of movers) mover.move()
      for (const mover of movers) await mover.expectShown(movers)
      for (const socket of others) socket.onMessage = () => undefined
    }
    let next = 0
    const stop = atRate(full.perSecond, (due) => {
      for (let index = 0; index < due; index++) room.typists[next++ % full.writers]?.type()
    })
    await sleep(seconds * 1000)
    const outcome = await measureTyping(server, [room.watch], seconds, room.receivers)
    stop()
    await expectAllCame(room)
    await server.kill()
    return outcome
  },
})
