import { crc32 } from 'node:zlib'
import {
  type AppendOptions,
  AppendRejectedError,
  type Fence,
  type FenceStore,
  type FenceValue,
  type Key,
} from './engine.ts'
import { encodeKey } from './key-encoding.ts'

/**
 * Number of counters, 4 bytes each, for all fences. The more counters there are, the fewer fences share a
 * counter.
 *
 * Fences of different workspaces also share counters, and the hash has no secret key. So a workspace can
 * choose names whose fences share a counter with a fence of another workspace. This is harmless: a raise
 * never ends a right. After a raise, rooms only read rights again and repeat the rejected appends
 * (`core/rooms/log/commit-queue.ts`). Each raise is a call that changes access, and these calls have a rate limit. All
 * nodes of a cluster must compute the same counter for a fence.
 */
const fenceCounters = 65_536

/** Returns the counters of the given fences, without duplicates. */
export const countersOf = (names: readonly Key[]): readonly number[] => [
  ...new Set(names.map((name) => crc32(encodeKey(name)) % fenceCounters)),
]

/**
 * Implements fences for a store that no other process writes to. Counts how often this process raised each
 * fence.
 */
export class FenceCache implements FenceStore {
  readonly #counts = new Uint32Array(fenceCounters)
  /**
   * Commits that have raised fences and are not durable yet. Until then, reads return the records as they
   * were before these commits.
   */
  readonly #pending = new Set<Promise<void>>()

  async read(names: readonly Key[]): Promise<Fence> {
    const fence = countersOf(names).map((counter) => this.at(counter, 0))
    // If another commit raises a fence while this method waits, the returned fence is outdated. An append
    // with it is rejected, and the caller then reads the permission again.
    if (this.#pending.size > 0) await Promise.all(this.#pending)
    return fence
  }

  isCurrent(fence: Fence): boolean {
    // An index loop, because this runs for each update.
    for (let index = 0; index < fence.length; index += 1) {
      const { counter, raisedHere } = fence[index] as FenceValue
      if (this.#counts[counter] !== raisedHere) return false
    }
    return true
  }

  /** Returns the value of a counter for a fence. @param raised number of raises that are stored */
  at(counter: number, raised: number): Fence[number] {
    return { counter, raised, raisedHere: this.#counts[counter] ?? 0 }
  }

  raise(counters: readonly number[]): void {
    for (const counter of counters) this.#counts[counter] = (this.#counts[counter] ?? 0) + 1
  }

  /**
   * Like `raise`, for a commit that is still being written. `read` waits until the caller calls the returned
   * function.
   */
  raiseWith(counters: readonly number[]): () => void {
    if (counters.length === 0) return () => {}
    this.raise(counters)
    let end = (): void => {}
    const pending = new Promise<void>((resolve) => {
      end = resolve
    })
    this.#pending.add(pending)
    return () => {
      this.#pending.delete(pending)
      end()
    }
  }
}

/**
 * Checks that the fences of an append have not been raised since the caller read them.
 * @throws AppendRejectedError
 */
export function checkFence(fences: FenceStore, { fence }: AppendOptions): void {
  if (fence !== undefined && !fences.isCurrent(fence)) throw new AppendRejectedError('fence')
}
