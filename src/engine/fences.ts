import { crc32 } from 'node:zlib'
import { type AppendOptions, AppendRejectedError, type Fence, type FenceStore, type Key } from './engine.ts'
import { encodeKey } from './key-encoding.ts'

/**
 * Counters of all fences, 4 bytes each. With more counters, fewer fences share one.
 *
 * Fences of several workspaces share counters, and the hash has no key: a workspace can choose names that
 * share a counter with a fence of another one. A raise of a shared counter only makes rooms read rights again
 * and repeat the rejected appends (`rooms/log/commits.ts`). It ends no right. Each raise is a call that
 * changes access, and these calls have a rate limit. All nodes of a cluster must compute the same counter.
 */
export const fenceCounters = 65_536

/** Returns the counters of fences, without duplicates. */
export const countersOf = (names: readonly Key[]): readonly number[] => [
  ...new Set(names.map((name) => crc32(encodeKey(name)) % fenceCounters)),
]

/** The number of times that this process raised each fence. This is sufficient if no other process writes. */
export class FenceCache implements FenceStore {
  readonly #counts = new Uint32Array(fenceCounters)
  /**
   * Commits that have raised fences and are not durable yet: reads still return the records from before them.
   */
  readonly #pending = new Set<Promise<void>>()

  async read(names: readonly Key[]): Promise<Fence> {
    const fence = countersOf(names).map((counter) => this.at(counter, 0))
    // A commit that begins during this wait makes the fence stale, so that the permission is read again.
    await Promise.all(this.#pending)
    return fence
  }

  isCurrent(fence: Fence): boolean {
    for (const { counter, raisedHere } of fence) if (this.#counts[counter] !== raisedHere) return false
    return true
  }

  /** Returns the value of a counter. @param raised how often it was raised in the store */
  at(counter: number, raised: number): Fence[number] {
    return { counter, raised, raisedHere: this.#counts[counter] ?? 0 }
  }

  raise(counters: readonly number[]): void {
    for (const counter of counters) this.#counts[counter] = (this.#counts[counter] ?? 0) + 1
  }

  /** Like `raise`, for a commit that has not ended. Until the returned function is called, `read` waits. */
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

/** Checks the fence of an append. @throws AppendRejectedError */
export function checkFence(fences: FenceStore, { fence }: AppendOptions): void {
  if (fence !== undefined && !fences.isCurrent(fence)) throw new AppendRejectedError('fence')
}
