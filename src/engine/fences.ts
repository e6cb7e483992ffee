import { crc32 } from 'node:zlib'
import { type AppendOptions, AppendRejectedError, type Fence, type FenceStore, type Key } from './engine.ts'
import { encodeKey } from './key-encoding.ts'

/**
 * Number of counters, 4 bytes each, for all fences. The more counters there are, the fewer fences share a
 * counter.
 *
 * Fences of several workspaces share counters, and the hash has no secret key. So a workspace can choose
 * names whose fences share a counter with a fence of another workspace. This is harmless: after a raise,
 * rooms only read rights again and repeat the rejected appends (`rooms/log/commits.ts`). A raise never ends a
 * right. Each raise is a call that changes access, and these calls have a rate limit. All nodes of a cluster
 * must compute the same counter.
 */
export const fenceCounters = 65_536

/** Returns the counters of the given fences, without duplicates. */
export const countersOf = (names: readonly Key[]): readonly number[] => [
  ...new Set(names.map((name) => crc32(encodeKey(name)) % fenceCounters)),
]

/**
 * Counts how often this process raised each fence. This is sufficient if no other process writes to the
 * store.
 */
export class FenceCache implements FenceStore {
  readonly #counts = new Uint32Array(fenceCounters)
  /**
   * Commits that have raised fences and are not durable yet. Until they are durable, reads still return the
   * records from before these commits.
   */
  readonly #pending = new Set<Promise<void>>()

  async read(names: readonly Key[]): Promise<Fence> {
    const fence = countersOf(names).map((counter) => this.at(counter, 0))
    // If another commit raises a fence during this wait, the returned fence is outdated. The caller then
    // reads the permission again.
    await Promise.all(this.#pending)
    return fence
  }

  isCurrent(fence: Fence): boolean {
    for (const { counter, raisedHere } of fence) if (this.#counts[counter] !== raisedHere) return false
    return true
  }

  /**
   * Returns the value of a counter.
   * @param raised number of raises in the store
   */
  at(counter: number, raised: number): Fence[number] {
    return { counter, raised, raisedHere: this.#counts[counter] ?? 0 }
  }

  raise(counters: readonly number[]): void {
    for (const counter of counters) this.#counts[counter] = (this.#counts[counter] ?? 0) + 1
  }

  /**
   * Like `raise`, for a commit that is still being written. `read` waits until the returned function is
   * called.
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

/** Checks that the fence of an append has not been raised. @throws AppendRejectedError */
export function checkFence(fences: FenceStore, { fence }: AppendOptions): void {
  if (fence !== undefined && !fences.isCurrent(fence)) throw new AppendRejectedError('fence')
}
