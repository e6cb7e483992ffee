import { setTimeout as sleep } from 'node:timers/promises'
import { connectAll, connectOne, endAll, expectOpen } from './connect-clients.ts'
import type { LoadSocket } from './load-socket.ts'
import { quantile } from './quantile.ts'
import type { Scenario } from './scenario.ts'
import type { TargetServer } from './target-server.ts'
import { atRate, KeystrokeTracker, Typist, trackUpdates } from './typist.ts'

/**
 * Number of keystrokes per second of all clients together while latencies are measured. The server is mostly
 * idle under this load.
 */
const pacedPerSecond = 1_000

/**
 * Returns a scenario with rooms of two clients. Both clients of a room type, and receive each other's edits.
 * An edit is durable when the other client receives it.
 */
export const latencyScenario = (roomCount: number): Scenario => ({
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
