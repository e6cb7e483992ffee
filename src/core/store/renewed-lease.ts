import type { Clock } from '../base/clock.ts'
import type { Key, Kv, LeaseStore, NamedLease, Queue } from './engine.ts'

interface RenewedLeaseOptions {
  readonly queue: Pick<Queue, 'extend'>
  readonly clock: Clock
  /** Token of the claimed job. */
  readonly token: string
  /**
   * Clock reading in epoch milliseconds, taken just before the job was claimed. No other process can claim
   * the job before `claimedAt + leaseMs`.
   */
  readonly claimedAt: number
  /** Lifetime of a lease that is not renewed, in ms. */
  readonly leaseMs: number
  /** Called if the lease ends although it was not released. */
  readonly lost: () => void
  /** Called with the error of a failed renewal. The renewal is repeated afterwards. */
  readonly failed: (error: unknown) => void
}

type RenewedLeaseState =
  /** `held`: the next renewal is scheduled. `until` is the end of the lease in epoch milliseconds. */
  | { readonly is: 'held'; readonly until: number; readonly cancelRenewal: () => void }
  | { readonly is: 'renewing'; readonly until: number; readonly renewed: Promise<void> }
  | { readonly is: 'lost' }
  | { readonly is: 'released' }

/**
 * Keeps the lease of a claimed job. Renews the lease after each third of its lifetime, until it is released
 * or has ended. Repeats a failed renewal while the lease lasts.
 */
export class RenewedLease {
  readonly #options: RenewedLeaseOptions
  #state: RenewedLeaseState

  constructor(options: RenewedLeaseOptions) {
    this.#options = options
    this.#state = this.#hold(options.claimedAt + options.leaseMs)
  }

  /** False if the lease may have ended, so that another process may have the job. */
  get isHeld(): boolean {
    const state = this.#state
    return (state.is === 'held' || state.is === 'renewing') && this.#options.clock.now() < state.until
  }

  /**
   * Stops the renewals and waits for a renewal in progress. The job stays claimed until the caller completes
   * or retries it.
   */
  release(): Promise<void> {
    const before = this.#state
    this.#state = { is: 'released' }
    if (before.is === 'held') before.cancelRenewal()
    return before.is === 'renewing' ? before.renewed : released
  }

  #hold(until: number): RenewedLeaseState {
    const { clock, leaseMs } = this.#options
    return { is: 'held', until, cancelRenewal: clock.after(leaseMs / 3, () => this.#renew(until)) }
  }

  #renew(until: number): void {
    this.#state = { is: 'renewing', until, renewed: this.#extend(until).then((end) => this.#extended(end)) }
  }

  /**
   * Renews the lease. Returns the new end of the lease; 0 if the lease has ended; the old end (`until`) if
   * the renewal failed.
   */
  async #extend(until: number): Promise<number> {
    const { queue, clock, token, leaseMs, failed } = this.#options
    const requestedAt = clock.now()
    try {
      return (await queue.extend(token, leaseMs)) ? requestedAt + leaseMs : 0
    } catch (error) {
      failed(error)
      return until
    }
  }

  #extended(until: number): void {
    if (this.#state.is === 'released') return
    if (this.#options.clock.now() < until) {
      this.#state = this.#hold(until)
      return
    }
    this.#state = { is: 'lost' }
    this.#options.lost()
  }
}

const released = Promise.resolve()

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
