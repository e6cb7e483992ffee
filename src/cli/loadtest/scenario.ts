import { setTimeout as sleep } from 'node:timers/promises'
import { HttpClient } from '../bench/http-client.ts'
import type { LoadSocket } from '../bench/load-socket.ts'
import { quantile } from '../bench/measure.ts'
import { atRate, KeystrokeTracker, Typist, trackUpdates } from '../bench/typist.ts'
import { connectAll, connectOne, endAll, expectOpen } from './connect-clients.ts'
import type { TargetServer } from './target-server.ts'

/**
 * Number of keystrokes per second of all clients together while latencies are measured. The server is mostly
 * idle under this load.
 */
const pacedPerSecond = 1_000

/**
 * Returns a scenario with rooms of two clients. Both clients of a room type, and receive each other's edits.
 * An edit is durable when the other client receives it.
 */
export const latencyScenario = (roomCount: number): LoadScenario => ({
  name: `${roomCount} rooms, 2 who type in each`,
  share: 0.35,
  async run(target, seconds) {
    const sockets = await connectAll(roomCount * 2, (index) =>
      connectOne(target, `room-${index % roomCount}`),
    )
    const pairs = pairUp(target, sockets)
    const perSecond = await typeInTurns(pairs, seconds / 2)
    await typeAtPace(pairs, seconds / 2)
    expectOpen(sockets)
    endAll(sockets)
    const times = pairs.flatMap(({ watch }) => watch.latencies)
    return [
      { key: 'editsPerSecond', label: 'edits on the disk and seen', value: perSecond, unit: '/s' },
      figure('seenP50', `p50 until seen, at ${pacedPerSecond}/s`, quantile(times, 0.5)),
      figure('seenP99', `p99 until seen, at ${pacedPerSecond}/s`, quantile(times, 0.99)),
    ]
  },
})

const figure = (key: string, label: string, value: number) => ({ key, label, value, unit: 'ms' }) as const

interface Pair {
  readonly typist: Typist
  /** Counts the keystrokes of `typist` that the other client has received. */
  readonly watch: KeystrokeTracker
}

/**
 * Pairs the clients of each room. The first half of `sockets` contains one client of each room, and the
 * second half the other.
 */
function pairUp(target: TargetServer, sockets: readonly LoadSocket[]): readonly Pair[] {
  return sockets.map((socket, index) => {
    const typist = new Typist(socket, target, '')
    const watch = new KeystrokeTracker([typist])
    trackUpdates(sockets[(index + sockets.length / 2) % sockets.length] as LoadSocket, target, watch)
    return { typist, watch }
  })
}

/**
 * Lets each client type a keystroke whenever the other client has received the previous one. Returns the
 * number of received keystrokes per second.
 */
async function typeInTurns(pairs: readonly Pair[], seconds: number): Promise<number> {
  let running = true
  const go = (): void => {
    for (const { typist, watch } of pairs) if (watch.total === typist.sent) typist.type()
    if (running) setImmediate(go)
  }
  go()
  const start = performance.now()
  await sleep(seconds * 1000)
  const seen = pairs.reduce((sum, { watch }) => sum + watch.total, 0)
  running = false
  return seen / ((performance.now() - start) / 1000)
}

async function typeAtPace(pairs: readonly Pair[], seconds: number): Promise<void> {
  for (const { watch } of pairs) watch.timing = true
  let next = 0
  const stop = atRate(pacedPerSecond, (due) => {
    for (let count = 0; count < due; count++) pairs[next++ % pairs.length]?.typist.type()
  })
  await sleep(seconds * 1000)
  stop()
}

const writerCount = 2
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

/**
 * Returns a scenario with one room. Two clients type as fast as the server accepts, and many clients only
 * read.
 */
export const broadcastScenario = (readerCount: number): LoadScenario => ({
  name: `one room, ${readerCount} readers`,
  share: 0.25,
  async run(target, seconds) {
    const count = writerCount + readerCount
    const sockets = await connectAll(count, () => connectOne(target, 'crowd'))
    const typists = sockets.slice(0, writerCount).map((socket) => new Typist(socket, target, 'crowd'))
    const watch = new KeystrokeTracker(typists)
    for (const socket of sockets) socket.onMessage = () => undefined
    trackUpdates(sockets.at(-1) as LoadSocket, target, watch)
    const stop = saturate(typists, watch)
    await sleep(seconds * 250)
    const [total, start] = [watch.total, performance.now()]
    await sleep(seconds * 750)
    const value = ((watch.total - total) * (count - 1)) / ((performance.now() - start) / 1000)
    stop()
    expectOpen(sockets)
    endAll(sockets)
    return [{ key: 'deliveredPerSecond', label: 'edits delivered', value, unit: '/s' }]
  },
})

/** Makes the typists type continuously until the returned function is called. */
function saturate(typists: readonly Typist[], watch: KeystrokeTracker): () => void {
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

const callerCount = 8
const words = 150

/**
 * LoadScenario with backends that replace texts. Each backend has its own document, and changes one word in each
 * call.
 */
export const replaceScenario: LoadScenario = {
  name: `REST, ${callerCount} callers who replace 1 KB of text`,
  share: 0.25,
  async run(target, seconds) {
    const callers = Array.from({ length: callerCount }, () => new HttpClient(target))
    const times: number[] = []
    const start = performance.now()
    const untilMs = start + seconds * 1000
    await Promise.all(callers.map((caller, who) => replaceUntil(caller, target, who, untilMs, times)))
    const perSecond = times.length / ((performance.now() - start) / 1000)
    for (const caller of callers) caller.end()
    return [
      { key: 'callsPerSecond', label: 'calls', value: perSecond, unit: '/s' },
      { key: 'callP50', label: 'p50 of a call', value: quantile(times, 0.5), unit: 'ms' },
      { key: 'callP99', label: 'p99 of a call', value: quantile(times, 0.99), unit: 'ms' },
    ]
  },
}

async function replaceUntil(
  caller: HttpClient,
  { organizationId }: TargetServer,
  who: number,
  untilMs: number,
  times: number[],
): Promise<void> {
  const address = { organizationId, documentId: `replaced-${who}`, editorId: 'main', type: 'text' }
  for (let round = 0; round === 0 || performance.now() < untilMs; round++) {
    const data = { ...address, data: textOf(round), upsert: true }
    const from = performance.now()
    await caller.post('/v2/crdt/update', Buffer.from(JSON.stringify({ data })))
    times.push(performance.now() - from)
  }
}

/**
 * Returns the text that is sent in a round. Compared with the previous round, one word changes, and one
 * changes back.
 */
const textOf = (round: number): string =>
  Array.from({ length: words }, (_, index) => (index === round % words ? `w${round}` : 'lorem')).join(' ')

/** One measured value with its unit. */
export interface LoadFigure {
  readonly key: string
  readonly label: string
  readonly value: number
  readonly unit: '/s' | 'ms' | 'KB'
}

export interface LoadScenario {
  readonly name: string
  /** Share of the whole duration that this scenario gets. */
  readonly share: number
  /** Runs the scenario for about `seconds` seconds. @throws Error that describes why the scenario failed */
  readonly run: (target: TargetServer, seconds: number) => Promise<readonly LoadFigure[]>
}
