import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Engine, NamedLease } from '../store/engine.ts'

/** Interval in ms at which a process that is not the leader tries to become the leader. */
const lookMs = 2_000

type ElectionState =
  | { readonly is: 'created' }
  /** The process waits for its next attempt: another process is the leader, or the last attempt failed. */
  | { readonly is: 'waiting'; readonly cancelAttempt: () => void }
  /**
   * The process has requested the lease. `lease` resolves with null if another process has the lease; it
   * never rejects.
   */
  | { readonly is: 'acquiring'; readonly lease: Promise<NamedLease | null> }
  | { readonly is: 'leading'; readonly lease: NamedLease }
  | { readonly is: 'stopped' }

/**
 * Elects a leader for continuous work: the process that holds the lease. At most one process at a time is the
 * leader.
 */
export class LeaderElection {
  readonly #engine: Pick<Engine, 'leases' | 'bus'>
  /** Name of the lease that the leader holds. */
  readonly #name: string
  readonly #clock: Clock
  readonly #log: Log
  /** Called each time this process becomes the leader. */
  readonly #elected: () => void
  readonly #topic: string
  readonly #unsubscribe: () => void
  #state: ElectionState = { is: 'created' }

  constructor(
    engine: Pick<Engine, 'leases' | 'bus'>,
    name: string,
    clock: Clock,
    log: Log,
    elected: () => void,
  ) {
    this.#engine = engine
    this.#name = name
    this.#clock = clock
    this.#log = log
    this.#elected = elected
    this.#topic = `leader.${name}`
    this.#unsubscribe = engine.bus.subscribe(this.#topic, () => {
      if (this.#state.is === 'waiting') this.#attempt()
    })
  }

  get isLeader(): boolean {
    return this.#state.is === 'leading' && this.#state.lease.isHeld
  }

  start(): void {
    this.#attempt()
  }

  /**
   * Releases the leadership, so that another process can continue the work. Call this method when the work of
   * this process has ended.
   */
  async stop(): Promise<void> {
    const before = this.#state
    this.#state = { is: 'stopped' }
    this.#unsubscribe()
    if (before.is === 'waiting') before.cancelAttempt()
    const lease = 'lease' in before ? await before.lease : null
    if (lease === null) return
    await lease.release()
    this.#engine.bus.publish(this.#topic, new Uint8Array())
  }

  /** Tries to become the leader. If that fails, tries again later, until it succeeds. */
  #attempt(): void {
    if (this.#state.is === 'waiting') this.#state.cancelAttempt()
    const lease = this.#acquire()
    this.#state = { is: 'acquiring', lease }
    void lease.then((acquired) => this.#acquired(acquired))
  }

  async #acquire(): Promise<NamedLease | null> {
    try {
      return await this.#engine.leases.acquire(this.#name, () => this.#lost())
    } catch (err) {
      this.#log.warn({ err, lease: this.#name }, 'could not check leadership; retrying')
      return null
    }
  }

  #acquired(lease: NamedLease | null): void {
    if (this.#state.is === 'stopped') return
    if (lease === null) {
      this.#state = { is: 'waiting', cancelAttempt: this.#clock.after(lookMs, () => this.#attempt()) }
      return
    }
    this.#state = { is: 'leading', lease }
    this.#elected()
  }

  #lost(): void {
    if (this.#state.is === 'leading') this.#attempt()
  }
}
