import { setTimeout as sleep } from 'node:timers/promises'
import { connectAll, connectOne, endAll, expectOpen } from './connect-clients.ts'
import type { LoadSocket } from './load-socket.ts'
import type { Scenario } from './scenario.ts'
import { KeystrokeTracker, Typist, trackUpdates } from './typist.ts'

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
export const broadcastScenario = (readerCount: number): Scenario => ({
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
