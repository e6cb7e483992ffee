import type { Clock } from '../clock.ts'
import type { Engine } from '../engine/engine.ts'
import type { Log } from '../log.ts'
import { createClusterLock } from './cluster-lock.ts'

/** A node that is not heard of for so long is followed by another one, in ms. */
const leaseMs = 6_000
/** How often the others look, in ms. */
const lookMs = 2_000

export interface LeaderElectionOptions {
  readonly engine: Pick<Engine, 'kv' | 'queue' | 'bus' | 'cluster'>
  /** What is done; the name of a queue of its own. */
  readonly name: string
  readonly clock: Clock
  readonly log: Log
  /** It has become this node's turn. */
  readonly begun: () => void
}

/**
 * Sees to it that one node at a time does something that goes on and on: who holds the lease of a job that is never done.
 * Where nobody shares the store that is always this one.
 */
export class LeaderElection {
  readonly #options: LeaderElectionOptions
  readonly #topic: string
  readonly #isAlone: boolean
  #token: string | null = null
  /** By this clock, from before it was asked for. Epoch milliseconds. */
  #until = 0
  #looking: Promise<void> = Promise.resolve()
  #isLooking = false
  #stopped = false
  #cancel: () => void = () => {}
  #unsubscribe: () => void = () => {}

  constructor(options: LeaderElectionOptions) {
    this.#options = options
    this.#topic = `steward.${options.name}`
    this.#isAlone = !options.engine.cluster.isShared
  }

  /** Is it this node's turn? */
  get isOn(): boolean {
    return this.#isAlone || (this.#token !== null && this.#options.clock.now() < this.#until)
  }

  start(): void {
    if (this.#isAlone) return this.#options.begun()
    this.#unsubscribe = this.#options.engine.bus.subscribe(this.#topic, () => {
      this.#look()
      return undefined
    })
    this.#look()
  }

  /** To be called when what was done has ended: another node goes on. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#unsubscribe()
    this.#cancel()
    await this.#looking
    const { queue, bus } = this.#options.engine
    if (this.#token === null) return
    await queue.retry(this.#token, 0, '').catch(() => false)
    bus.publish(this.#topic, new Uint8Array())
  }

  /** Soon again, whatever comes of it. */
  #look(): void {
    if (this.#stopped || this.#isLooking) return
    this.#isLooking = true
    this.#cancel()
    this.#looking = this.#take()
      .catch((err: unknown) =>
        this.#options.log.warn({ err, steward: this.#options.name }, 'whose turn it is cannot be found out'),
      )
      .finally(() => {
        this.#isLooking = false
        if (!this.#stopped) this.#cancel = this.#options.clock.after(lookMs, () => this.#look())
      })
  }

  async #take(): Promise<void> {
    const { engine, name, clock, begun } = this.#options
    const asked = clock.now()
    if (this.#token !== null) {
      if (await engine.queue.extend(this.#token, leaseMs)) this.#until = asked + leaseMs
      else this.#token = null
    }
    if (this.#token !== null) return
    await createClusterLock(engine.kv, name)
    const [turn] = await engine.queue.claim(name, 1, leaseMs)
    if (turn === undefined) return
    this.#token = turn.token
    this.#until = asked + leaseMs
    begun()
  }
}
