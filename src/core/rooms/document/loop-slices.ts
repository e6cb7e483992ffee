import { setImmediate as nextTick, setTimeout } from 'node:timers/promises'
import { Semaphore } from '../../base/semaphore.ts'

/** Runs one slice of long work, and resolves with its result when the next slice may run. */
export type RunSlice = <T>(slice: () => T) => Promise<T>

/** Runs slices with the events that wait between them. */
export const inEachTick: RunSlice = async (slice) => {
  const result = slice()
  await nextTick()
  return result
}

/** Runs work in the share that its workspace has of a tick. `TickScheduler` implements it. */
interface Ticks {
  run<T>(workspaceId: string, work: () => T): Promise<T>
}

/**
 * Gives the slices of long work on the event loop a turn, one workspace after the other. A slice uses the share that its
 * workspace has of a tick. After each slice, no other one runs for as long as it took: an update passes several ticks
 * until its receivers get it, and each of them would wait for another slice.
 */
export class LoopSlices {
  readonly #ticks: Ticks
  readonly #turns = new Semaphore({ total: 1 })
  readonly #rest: (ms: number) => Promise<unknown>

  /** @param rest resolves after `ms` milliseconds */
  constructor(ticks: Ticks, rest: (ms: number) => Promise<unknown> = setTimeout) {
    this.#ticks = ticks
    this.#rest = rest
  }

  /** Returns a function that runs the slices of a workspace. */
  of(workspaceId: string): RunSlice {
    return (slice) =>
      this.#turns.run(workspaceId, async () => {
        let ms = 0
        try {
          return await this.#ticks.run(workspaceId, () => {
            const startedAt = performance.now()
            try {
              return slice()
            } finally {
              ms = performance.now() - startedAt
            }
          })
        } finally {
          await this.#rest(ms)
        }
      })
  }
}
