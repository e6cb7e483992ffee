import type { Clock } from '../base/clock.ts'
import type { Key, Kv, LeaseStore, NamedLease, Queue } from './engine.ts'
import { RenewedLease } from './renewed-lease.ts'

/** Lifetime of a lease that is not renewed, in ms. */
const leaseMs = 6_000

/** Partition for the commits that create the jobs of leases. */
const leasesPart: Key = ['turns']

/**
 * Leases among the processes that share a store. Each lease is stored as the lease of a job that is never
 * completed.
 */
export class QueueLeaseStore implements LeaseStore {
  readonly #kv: Kv
  readonly #queue: Queue
  readonly #clock: Clock

  constructor(kv: Kv, queue: Queue, clock: Clock) {
    this.#kv = kv
    this.#queue = queue
    this.#clock = clock
  }

  async acquire(name: string, lost: () => void = () => {}): Promise<NamedLease | null> {
    // Reads the clock before the request. The lease starts later, so no other process can get it before
    // `claimedAt + leaseMs`.
    const claimedAt = this.#clock.now()
    let [job] = await this.#queue.claim(name, 1, leaseMs)
    if (job === undefined) {
      // Creates the job of the lease, unless the job already exists.
      await this.#kv.commit(leasesPart, {
        jobs: [{ queue: name, id: name, at: 0, payload: new Uint8Array() }],
      })
      ;[job] = await this.#queue.claim(name, 1, leaseMs)
    }
    return job === undefined ? null : this.#hold(job.token, claimedAt, lost)
  }

  #hold(token: string, claimedAt: number, lost: () => void): NamedLease {
    // The error of a failed renewal is ignored, because the store may be unavailable only for a moment.
    const lease = new RenewedLease({
      queue: this.#queue,
      clock: this.#clock,
      token,
      claimedAt,
      leaseMs,
      lost,
      failed: () => undefined,
    })
    return {
      get isHeld() {
        return lease.isHeld
      },
      release: async () => {
        await lease.release()
        await this.#queue.retry(token, 0, '').catch(() => false)
      },
    }
  }
}
