import { atRate, KeystrokeTracker, Typist, trackUpdates } from '../../src/loadtest/typist.ts'
import type { Running } from './contenders.ts'
import { enter, enterAll } from './entering.ts'

/** Rooms with two typists each, who see one another. */
export interface Pairs {
  readonly watches: readonly KeystrokeTracker[]
  /** Keystrokes that have come so far. */
  delivered(): number
  /** Has them type in turns, so many keystrokes a second in all, until what it returns is called. */
  type(perSecond: number): () => void
}

/** Opens two sockets in each of so many rooms. Latencies are noted only by watches that are told to (`timing`). */
export async function enterInPairs(server: Running, rooms: number): Promise<Pairs> {
  const documentOf = (index: number): string => `room-${index % rooms}`
  const sockets = await enterAll(rooms * 2, (index) => enter(server, documentOf(index)))
  const typists = sockets.map((socket, index) => new Typist(socket, server, documentOf(index)))
  const watches = sockets.map((socket, index) => {
    const watch = new KeystrokeTracker([typists[(index + rooms) % typists.length] as Typist])
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
  }
}
