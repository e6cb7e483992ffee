import type { Clock } from '../clock.ts'
import type { Engine, Job, Key, LeaseStore, NamedLease } from './engine.ts'
import { RenewedLease } from './renewed-lease.ts'

/** Lifetime of a lease without a renewal, in ms. */
const leaseMs = 6_000

/** Partition of the jobs that stand for leases. */
const leasesPart: Key = ['turns']

export interface QueueLeaseStoreOptions extends Pick<Engine, 'kv' | 'queue'> {
  readonly clock: Clock
}

/** Leases between the processes that share a store. Each one is the lease of a job that is never done. */
export class QueueLeaseStore implements LeaseStore {
  readonly #options: QueueLeaseStoreOptions

  constructor(options: QueueLeaseStoreOptions) {
    this.#options = options
  }

  async acquire(name: string, lost: () => void = () => {}): Promise<NamedLease | null> {
    const { kv, queue, clock } = this.#options
    // Measured before the request: no other process can have the lease until then.
    const claimedAt = clock.now()
    let [job] = await queue.claim(name, 1, leaseMs)
    if (job === undefined) {
      // Changes nothing if the job exists.
      await kv.commit(leasesPart, { jobs: [{ queue: name, id: name, at: 0, payload: new Uint8Array() }] })
      ;[job] = await queue.claim(name, 1, leaseMs)
    }
    return job === undefined ? null : this.#hold(job.token, claimedAt, lost)
  }

  #hold(token: string, claimedAt: number, lost: () => void): NamedLease {
    const { queue, clock } = this.#options
    // A failed renewal needs no report: the store may be unavailable for a moment.
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

/** Returns whether a job stands for a lease. It contains no data. */
export const isLeaseJob = ({ queue, id, payload }: Pick<Job, 'queue' | 'id' | 'payload'>): boolean =>
  queue === id && payload.length === 0
