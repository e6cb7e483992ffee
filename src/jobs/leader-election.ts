import type { Clock } from '../clock.ts'
import type { Engine, NamedLease } from '../engine/engine.ts'
import type { Log } from '../log.ts'

/** Interval at which a process that is not the leader tries to become it, in ms. */
const lookMs = 2_000

export interface LeaderElectionOptions {
  readonly engine: Pick<Engine, 'leases' | 'bus'>
  /** The name of the lease. */
  readonly name: string
  readonly clock: Clock
  readonly log: Log
  /** Called when this process has become the leader. */
  readonly elected: () => void
}

/** Elects one process at a time for continuous work: the leader, which holds a lease. */
export class LeaderElection {
  readonly #options: LeaderElectionOptions
  readonly #topic: string
  #lease: NamedLease | null = null
  #looking: Promise<void> = Promise.resolve()
  #isLooking = false
  #stopped = false
  #cancel: () => void = () => {}
  #unsubscribe: () => void = () => {}

  constructor(options: LeaderElectionOptions) {
    this.#options = options
    this.#topic = `steward.${options.name}`
  }

  get isLeader(): boolean {
    return this.#lease?.isHeld === true
  }

  start(): void {
    this.#unsubscribe = this.#options.engine.bus.subscribe(this.#topic, () => {
      this.#look()
      return undefined
    })
    this.#look()
  }

  /** Call it when the work has ended: another process continues. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#unsubscribe()
    this.#cancel()
    await this.#looking
    if (this.#lease === null) return
    await this.#lease.release()
    this.#options.engine.bus.publish(this.#topic, new Uint8Array())
  }

  /** Repeats, unless this process is the leader. */
  #look(): void {
    if (this.#stopped || this.#isLooking || this.#lease !== null) return
    const { log, name, clock } = this.#options
    this.#isLooking = true
    this.#cancel()
    this.#looking = this.#take()
      .catch((err: unknown) => log.warn({ err, lease: name }, 'could not check leadership; retrying'))
      .finally(() => {
        this.#isLooking = false
        if (!this.#stopped && this.#lease === null) this.#cancel = clock.after(lookMs, () => this.#look())
      })
  }

  async #take(): Promise<void> {
    const { engine, name, elected } = this.#options
    this.#lease = await engine.leases.acquire(name, () => {
      this.#lease = null
      this.#look()
    })
    if (this.#lease !== null) elected()
  }
}
