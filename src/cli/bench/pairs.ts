import type { Running } from './contender.ts'
import { enterAll, join } from './entering.ts'
import { atRate, expectExact, KeystrokeTracker, Typist, trackUpdates } from './typist.ts'

/** Rooms with two typists each. The two typists of a room receive each other's keystrokes. */
export interface PairedTypists {
  readonly watches: readonly KeystrokeTracker[]
  /** Number of keystrokes that have arrived so far. */
  delivered(): number
  /**
   * Makes the typists type one after the other, with this number of keystrokes per second in total. Returns a
   * function that stops them.
   */
  type(perSecond: number): () => void
  /** @throws Error if keystrokes did not arrive */
  expectExact(): Promise<void>
}

/** Opens two sockets in each of `rooms` rooms. A tracker records latencies only if its `timing` is true. */
export async function enterInPairs(server: Running, rooms: number): Promise<PairedTypists> {
  const documentOf = (index: number): string => `room-${index % rooms}`
  const sockets = await enterAll(rooms * 2, (index) => join(server, documentOf(index)))
  const typists = sockets.map((socket, index) => new Typist(socket, server, documentOf(index)))
  const watches = sockets.map((socket, index) => {
    const watch = new KeystrokeTracker([typists[(index + rooms) % typists.length] as Typist], typists[index])
    trackUpdates(socket, server, watch)
    return watch
  })
  let next = 0
  return {
    watches,
    delivered: () => watches.reduce((sum, watch) => sum + watch.total, 0),
    type: (perSecond) =>
      atRate(perSecond, (due) => {
        for (let index = 0; index < due; index++) typists[next++ % typists.length]?.type()
      }),
    expectExact: () => expectExact(watches),
  }
}
