import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase, PoolClient } from 'pg'
import { postgresUrls } from '../../config/postgres-urls.ts'
import type { Log } from '../../log.ts'
import { type Health, StoreUnavailable } from '../engine.ts'
import { closedMessage } from '../gate.ts'
import { Slots } from '../slots.ts'
import { type ConnectionOptions, Connections } from './connections.ts'
import {
  endsConnection,
  isAway,
  isCollision,
  isMisconfigured,
  OutcomeUnknown,
  toldOf,
  Undone,
} from './failures.ts'
import { Outage } from './outage.ts'
import { Session } from './session.ts'
import { prepareSession, type SessionSettings } from './settings.ts'
import { type Transaction, transact } from './transaction.ts'

export interface DatabaseOptions extends SessionSettings, ConnectionOptions {
  /** `postgres://user:password@host:port/database`; of several `host:port` the one that takes writes is used. */
  readonly url: string
  /** How long what came in waits for a database that is away. */
  readonly holdMs: number
  readonly log?: Log | undefined
}

/** The right of this process to write. */
export interface WriteRight {
  /** Why nothing may be written now; null when it may. */
  refusal(): string | null
  /** Sees to it that it goes on, where it can. */
  renew(session: Session): Promise<void>
}

/** Pause after a transaction that the database could not do though it is there, in ms. */
const undonePauseMs = 200
/** A collision is decided by trying again; so often it is a fault. */
const collisionsMax = 50

/** Connections to PostgreSQL, and what to do while there are none. */
export class Database {
  #current: Connections
  /** Those that have been given up, until the last of them is closed. */
  readonly #former = new Map<Connections, Promise<void>>()
  /** Of connections that are open. */
  readonly #sessions = new WeakMap<ClientBase, Session>()
  /** One a server; the first one is in use, or tried next. */
  readonly #urls: string[]
  /** The latest that was found on any of them. */
  #timeline = 0
  readonly #slots: Slots
  readonly #options: DatabaseOptions
  readonly #stop = new AbortController()
  /** Whether calls may wait for a database that is away. */
  readonly #hold = new AbortController()
  #outage: Outage | null = null
  #state: 'unknown' | 'reached' = 'unknown'
  #right: WriteRight = { refusal: () => null, renew: async () => undefined }

  constructor(options: DatabaseOptions) {
    this.#options = options
    this.#slots = new Slots(options.poolSize)
    this.#urls = [...postgresUrls(options.url)]
    this.#current = this.#connections()
  }

  /** From now on nothing is written without this right. */
  guard(right: WriteRight): void {
    this.#right = right
  }

  health(): Health {
    if (this.#outage !== null)
      return { ok: false, reason: `the database does not serve (${this.#outage.code})` }
    const refusal = this.#right.refusal()
    return refusal === null ? { ok: true } : { ok: false, reason: refusal }
  }

  /** Waits while the database is away, and asks again what a lost connection left unanswered. @throws StoreUnavailable */
  async read<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const startedAt = performance.now()
    for (;;) {
      try {
        return await this.once(work)
      } catch (error) {
        if (!endsConnection(error) || this.#isLate(startedAt)) throw toldOf(error)
      }
    }
  }

  /**
   * Waits while the database is away; what certainly was not done is done again.
   * @throws StoreUnavailable also when nobody knows whether it was
   */
  async write<Asked, Result>(transaction: Transaction<Asked, Result>): Promise<Result> {
    const startedAt = performance.now()
    for (let collisions = 0; ; ) {
      try {
        return await this.once((session) => this.#transact(session, transaction))
      } catch (error) {
        if (!(error instanceof Undone)) throw toldOf(error)
        if (isCollision(error) && collisions < collisionsMax) collisions += 1
        else if (!isAway(error) || this.#isLate(startedAt)) throw toldOf(error)
        else if (!endsConnection(error)) await sleep(undonePauseMs)
      }
    }
  }

  async #transact<Asked, Result>(session: Session, transaction: Transaction<Asked, Result>): Promise<Result> {
    if (this.#right.refusal() !== null)
      await this.#right.renew(session).catch((error: unknown) => {
        throw new Undone(error)
      })
    const refusal = this.#right.refusal()
    if (refusal !== null) throw new StoreUnavailable(refusal)
    return transact(session, transaction)
  }

  #isLate(startedAt: number): boolean {
    return this.#hold.signal.aborted || performance.now() - startedAt > this.#options.holdMs
  }

  /** Has `work` do something on a connection of its own. @throws what it throws, StoreUnavailable without one */
  once<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#slots.run(async () => {
      const client = await this.#connection()
      let error: unknown = null
      try {
        return await work(this.#sessionOf(client))
      } catch (failure) {
        error = failure
        if (isAway(failure)) this.#away(failure)
        throw failure
      } finally {
        client.release(error instanceof OutcomeUnknown || endsConnection(error))
      }
    })
  }

  async #connection(): Promise<PoolClient> {
    for (;;) {
      if (this.#stop.signal.aborted) throw new StoreUnavailable(closedMessage)
      if (this.#outage !== null) await this.#outage.waited(this.#options.holdMs, this.#hold.signal)
      try {
        const client = await this.#current.connect()
        this.#state = 'reached'
        return client
      } catch (error) {
        // Once it has worked, a restart or a failover may look like this for a while.
        if (this.#state === 'unknown' && isMisconfigured(error)) throw toldOf(error)
        this.#away(error)
      }
    }
  }

  #away(error: unknown): void {
    if (this.#stop.signal.aborted) return
    const parts = { reach: () => this.#reach(), log: this.#options.log, stop: this.#stop.signal }
    this.#outage ??= new Outage(error, parts, () => {
      this.#outage = null
    })
  }

  /** @throws unless there is a server that takes writes; another one is tried next time, if there is one */
  async #reach(): Promise<void> {
    const [tried, connections] = [this.#urls[0], this.#current]
    try {
      await this.aside((session) => this.#right.renew(session))
    } catch (error) {
      // Others may have tried it meanwhile.
      if (this.#urls[0] === tried) this.#urls.push(...this.#urls.splice(0, 1))
      this.#leave(connections)
      throw error
    }
  }

  /** @throws of a server in whose place another one has been: it lacks what that has, though it takes writes */
  async #prepare(session: Session): Promise<void> {
    const servers = this.#urls.length === 1 ? 'one' : 'several'
    const timeline = await prepareSession(session, this.#options, servers)
    if (timeline < this.#timeline)
      throw new Error('a standby has been promoted in its place: it has to follow that one before it is used')
    // Nobody needs an answer of the one that it has followed.
    if (timeline > this.#timeline) for (const former of this.#former.keys()) former.cut()
    this.#timeline = timeline
  }

  #connections(): Connections {
    return new Connections(this.#urls[0], this.#options, {
      prepare: (client) => this.#prepare(this.#sessionOf(client)),
      ended: () => void this.#reach().catch(() => undefined),
    })
  }

  /** None of these is used again, whether it serves or not. */
  #leave(left: Connections): void {
    if (this.#current !== left || this.#stop.signal.aborted) return
    this.#current = this.#connections()
    const ended = left.end().finally(() => this.#former.delete(left))
    this.#former.set(left, ended)
  }

  #sessionOf(client: ClientBase): Session {
    const session = this.#sessions.get(client) ?? new Session(client)
    this.#sessions.set(client, session)
    return session
  }

  /** Has `work` do something however busy the other connections are, and whether they can be used or not. */
  async aside<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const client = await this.#current.connect().catch((error: unknown) => {
      this.#away(error)
      throw error
    })
    let failure: unknown = null
    try {
      return await work(this.#sessionOf(client))
    } catch (error) {
      failure = error
      if (isAway(error)) this.#away(error)
      throw error
    } finally {
      client.release(failure !== null)
    }
  }

  /** From now on nobody waits for a database that is away. */
  endHolding(): void {
    this.#hold.abort()
  }

  async close(): Promise<void> {
    this.endHolding()
    this.#stop.abort()
    await Promise.all([this.#current.end(), ...this.#former.values()])
  }
}
