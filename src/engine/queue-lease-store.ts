import type { Clock } from '../clock.ts'
import type { Engine, Job, Key, LeaseStore, NamedLease } from './engine.ts'

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
    return job === undefined ? null : new RenewedLease(this.#options, job.token, claimedAt, lost)
  }
}

/**
 * A lease that is renewed until it is released or has ended. A renewal that fails is repeated while the lease
 * lasts.
 */
class RenewedLease implements NamedLease {
  readonly #options: QueueLeaseStoreOptions
  readonly #token: string
  readonly #lost: () => void
  /** End of the lease in epoch milliseconds. */
  #until: number
  #isReleased = false
  #renewing: Promise<void> = Promise.resolve()
  #cancel: () => void = () => {}

  constructor(options: QueueLeaseStoreOptions, token: string, claimedAt: number, lost: () => void) {
    this.#options = options
    this.#token = token
    this.#lost = lost
    this.#until = claimedAt + leaseMs
    this.#renewLater()
  }

  get isHeld(): boolean {
    return !this.#isReleased && this.#options.clock.now() < this.#until
  }

  async release(): Promise<void> {
    this.#isReleased = true
    this.#cancel()
    await this.#renewing
    await this.#options.queue.retry(this.#token, 0, '').catch(() => false)
  }

  #renewLater(): void {
    this.#cancel = this.#options.clock.after(leaseMs / 3, () => {
      this.#renewing = this.#renew()
    })
  }

  async #renew(): Promise<void> {
    const { queue, clock } = this.#options
    const askedAt = clock.now()
    // The store may be unavailable for a moment.
    const isExtended = await queue.extend(this.#token, leaseMs).catch(() => null)
    if (isExtended !== null) this.#until = isExtended ? askedAt + leaseMs : 0
    if (this.#isReleased) return
    if (clock.now() < this.#until) this.#renewLater()
    else this.#lost()
  }
}

/** Returns whether a job stands for a lease. It contains no data. */
export const isLeaseJob = ({ queue, id, payload }: Pick<Job, 'queue' | 'id' | 'payload'>): boolean =>
  queue === id && payload.length === 0
