import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase, PoolClient } from 'pg'
import { postgresUrls } from '../../../config/postgres-urls.ts'
import type { Log } from '../../../log.ts'
import { type Health, StoreUnavailableError } from '../../engine.ts'
import { closedMessage } from '../../open-calls.ts'
import { Semaphore } from '../../semaphore.ts'
import { type ConnectionOptions, ConnectionPool } from './connection-pool.ts'
import { DatabaseSession } from './database-session.ts'
import { Outage } from './outage.ts'
import {
  endsConnection,
  isAway,
  isCollision,
  isMisconfigured,
  OutcomeUnknownError,
  TransactionRolledBackError,
  toPublicError,
} from './postgres-errors.ts'
import { prepareSession, type SessionSettings } from './session-settings.ts'
import { runSqlTransaction, type SqlTransaction } from './sql-transaction.ts'

export interface DatabaseOptions extends SessionSettings, ConnectionOptions {
  /** `postgres://user:password@host:port/database`; of several `host:port` the one that takes writes is used. */
  readonly url: string
  /** How long what came in waits for a database that is away. */
  readonly holdMs: number
  readonly log?: Log | undefined
}

/** The right of this process to write. */
export interface WritePermission {
  /** Why nothing may be written now; null when it may. */
  refusal(): string | null
  /** Sees to it that it goes on, where it can. */
  renew(session: DatabaseSession): Promise<void>
}

/** Pause after a transaction that the database could not do though it is there, in ms. */
const undonePauseMs = 200
/** A collision is decided by trying again; so often it is a fault. */
const collisionsMax = 50

/** Connections to PostgreSQL, and what to do while there are none. */
export class PostgresDatabase {
  #current: ConnectionPool
  /** Those that have been given up, until the last of them is closed. */
  readonly #former = new Map<ConnectionPool, Promise<void>>()
  /** Of connections that are open. */
  readonly #sessions = new WeakMap<ClientBase, DatabaseSession>()
  /** One a server; the first one is in use, or tried next. */
  readonly #urls: string[]
  /** The latest that was found on any of them. */
  #timeline = 0
  readonly #slots: Semaphore
  readonly #options: DatabaseOptions
  readonly #stop = new AbortController()
  /** Whether calls may wait for a database that is away. */
  readonly #hold = new AbortController()
  #outage: Outage | null = null
  #state: 'unknown' | 'reached' = 'unknown'
  #right: WritePermission = { refusal: () => null, renew: async () => undefined }

  constructor(options: DatabaseOptions) {
    this.#options = options
    this.#slots = new Semaphore(options.poolSize)
    this.#urls = [...postgresUrls(options.url)]
    this.#current = this.#connections()
  }

  /** From now on nothing is written without this right. */
  guard(right: WritePermission): void {
    this.#right = right
  }

  health(): Health {
    if (this.#outage !== null)
      return { ok: false, reason: `the database does not serve (${this.#outage.code})` }
    const refusal = this.#right.refusal()
    return refusal === null ? { ok: true } : { ok: false, reason: refusal }
  }

  /** Waits while the database is away, and asks again what a lost connection left unanswered. @throws StoreUnavailableError */
  async read<T>(work: (session: DatabaseSession) => Promise<T>): Promise<T> {
    const startedAt = performance.now()
    for (;;) {
      try {
        return await this.once(work)
      } catch (error) {
        if (!endsConnection(error) || this.#isLate(startedAt)) throw toPublicError(error)
      }
    }
  }

  /**
   * Waits while the database is away; what certainly was not done is done again.
   * @throws StoreUnavailableError also when nobody knows whether it was
   */
  async write<Asked, Result>(transaction: SqlTransaction<Asked, Result>): Promise<Result> {
    const startedAt = performance.now()
    for (let collisions = 0; ; ) {
      try {
        return await this.once((session) => this.#transact(session, transaction))
      } catch (error) {
        if (!(error instanceof TransactionRolledBackError)) throw toPublicError(error)
        if (isCollision(error) && collisions < collisionsMax) collisions += 1
        else if (!isAway(error) || this.#isLate(startedAt)) throw toPublicError(error)
        else if (!endsConnection(error)) await sleep(undonePauseMs)
      }
    }
  }

  async #transact<Asked, Result>(
    session: DatabaseSession,
    transaction: SqlTransaction<Asked, Result>,
  ): Promise<Result> {
    if (this.#right.refusal() !== null)
      await this.#right.renew(session).catch((error: unknown) => {
        throw new TransactionRolledBackError(error)
      })
    const refusal = this.#right.refusal()
    if (refusal !== null) throw new StoreUnavailableError(refusal)
    return runSqlTransaction(session, transaction)
  }

  #isLate(startedAt: number): boolean {
    return this.#hold.signal.aborted || performance.now() - startedAt > this.#options.holdMs
  }

  /** Has `work` do something on a connection of its own. @throws what it throws, StoreUnavailableError without one */
  once<T>(work: (session: DatabaseSession) => Promise<T>): Promise<T> {
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
        client.release(error instanceof OutcomeUnknownError || endsConnection(error))
      }
    })
  }

  async #connection(): Promise<PoolClient> {
    for (;;) {
      if (this.#stop.signal.aborted) throw new StoreUnavailableError(closedMessage)
      if (this.#outage !== null) await this.#outage.waited(this.#options.holdMs, this.#hold.signal)
      try {
        const client = await this.#current.connect()
        this.#state = 'reached'
        return client
      } catch (error) {
        // Once it has worked, a restart or a failover may look like this for a while.
        if (this.#state === 'unknown' && isMisconfigured(error)) throw toPublicError(error)
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
  async #prepare(session: DatabaseSession): Promise<void> {
    const servers = this.#urls.length === 1 ? 'one' : 'several'
    const timeline = await prepareSession(session, this.#options, servers)
    if (timeline < this.#timeline)
      throw new Error('a standby has been promoted in its place: it has to follow that one before it is used')
    // Nobody needs an answer of the one that it has followed.
    if (timeline > this.#timeline) for (const former of this.#former.keys()) former.cut()
    this.#timeline = timeline
  }

  #connections(): ConnectionPool {
    return new ConnectionPool(this.#urls[0], this.#options, {
      prepare: (client) => this.#prepare(this.#sessionOf(client)),
      ended: () => void this.#reach().catch(() => undefined),
    })
  }

  /** None of these is used again, whether it serves or not. */
  #leave(left: ConnectionPool): void {
    if (this.#current !== left || this.#stop.signal.aborted) return
    this.#current = this.#connections()
    const ended = left.end().finally(() => this.#former.delete(left))
    this.#former.set(left, ended)
  }

  #sessionOf(client: ClientBase): DatabaseSession {
    const session = this.#sessions.get(client) ?? new DatabaseSession(client)
    this.#sessions.set(client, session)
    return session
  }

  /** Has `work` do something however busy the other connections are, and whether they can be used or not. */
  async aside<T>(work: (session: DatabaseSession) => Promise<T>): Promise<T> {
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
