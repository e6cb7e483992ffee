import type { Clock } from '../base/clock.ts'
import type { Engine, Job, Key, LeaseStore, NamedLease } from './engine.ts'
import { RenewedLease } from './renewed-lease.ts'

/** Lifetime of a lease that is not renewed, in ms. */
const leaseMs = 6_000

/** Partition for the commits that create the jobs of leases. */
const leasesPart: Key = ['turns']

interface QueueLeaseStoreOptions extends Pick<Engine, 'kv' | 'queue'> {
  readonly clock: Clock
}

/**
 * Leases among the processes that share a store. Each lease is stored as the lease of a job that is never
 * completed.
 */
export class QueueLeaseStore implements LeaseStore {
  readonly #options: QueueLeaseStoreOptions

  constructor(options: QueueLeaseStoreOptions) {
    this.#options = options
  }

  async acquire(name: string, lost: () => void = () => {}): Promise<NamedLease | null> {
    const { kv, queue, clock } = this.#options
    // Reads the clock before the request. The lease starts later, so no other process can get it before
    // `claimedAt + leaseMs`.
    const claimedAt = clock.now()
    let [job] = await queue.claim(name, 1, leaseMs)
    if (job === undefined) {
      // Creates the job of the lease, unless the job already exists.
      await kv.commit(leasesPart, { jobs: [{ queue: name, id: name, at: 0, payload: new Uint8Array() }] })
      ;[job] = await queue.claim(name, 1, leaseMs)
    }
    return job === undefined ? null : this.#hold(job.token, claimedAt, lost)
  }

  #hold(token: string, claimedAt: number, lost: () => void): NamedLease {
    const { queue, clock } = this.#options
    // The error of a failed renewal is ignored, because the store may be unavailable only for a moment.
    const lease = new RenewedLease({ queue, clock, token, claimedAt, leaseMs, lost, failed: () => undefined })
    return {
      get isHeld() {
        return lease.isHeld
      },
      release: async () => {
        await lease.release()
        await queue.retry(token, 0, '').catch(() => false)
      },
    }
  }
}

/** Returns whether a job exists only to represent a lease. Such a job contains no data. */
export const isLeaseJob = ({ queue, id, payload }: Pick<Job, 'queue' | 'id' | 'payload'>): boolean =>
  queue === id && payload.length === 0
