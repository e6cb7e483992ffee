import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase, PoolClient } from 'pg'
import type { Log } from '../../../core/base/log.ts'
import { Semaphore } from '../../../core/base/semaphore.ts'
import { postgresUrls } from '../../../core/config/option-parsers.ts'
import { type Health, StoreUnavailableError } from '../../../core/store/engine.ts'
import { closedMessage } from '../../../core/store/open-calls.ts'
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
import { runSqlBatch, runSqlTransaction, type SqlTransaction } from './sql-transaction.ts'

export interface DatabaseOptions extends SessionSettings, ConnectionOptions {
  /**
   * URL of the form `postgres://user:password@host:port/database`. If it contains several `host:port`, the
   * server that accepts writes is used.
   */
  readonly url: string
  /** Maximum time in ms for which a call waits while the database is unavailable. */
  readonly holdMs: number
  readonly log?: Log | undefined
}

/** The permission of this process to write. It expires unless it is renewed. */
export interface WritePermission {
  /** Returns the reason why this process must not write now; null if it may write. */
  refusal(): string | null
  /** Renews the permission, if that is possible. */
  renew(session: DatabaseSession): Promise<void>
}

/**
 * Delay in ms before the repetition of a transaction that the database could not execute although the
 * connection was still usable.
 */
const undonePauseMs = 200
/**
 * Maximum number of times that one transaction is repeated because of collisions. Normally the first
 * repetition succeeds, so more collisions than this are a fault.
 */
const collisionsMax = 50

/** Provides connections to PostgreSQL, and handles its outages. */
export class PostgresDatabase {
  #current: ConnectionPool
  /** Pools that are no longer used. A pool stays in this map until its last connection is closed. */
  readonly #former = new Map<ConnectionPool, Promise<void>>()
  /** The session of each open connection. */
  readonly #sessions = new WeakMap<ClientBase, DatabaseSession>()
  /** One URL for each server. The first URL is in use, or is tried next. */
  readonly #urls: string[]
  /** Highest timeline of all servers to which this process has connected. */
  #timeline = 0
  readonly #slots: Semaphore
  readonly #options: DatabaseOptions
  readonly #stop = new AbortController()
  /** Aborted when calls must stop waiting for an unavailable database. */
  readonly #hold = new AbortController()
  #outage: Outage | null = null
  #state: 'unknown' | 'reached' = 'unknown'
  #right: WritePermission = { refusal: () => null, renew: async () => undefined }

  constructor(options: DatabaseOptions) {
    this.#options = options
    this.#slots = new Semaphore({ total: options.poolSize })
    this.#urls = [...postgresUrls(options.url)]
    this.#current = this.#connections()
  }

  /** Sets the permission that is required for every later transaction. */
  guard(right: WritePermission): void {
    this.#right = right
  }

  health(): Health {
    if (this.#outage !== null)
      return { ok: false, reason: `the database is not available (${this.#outage.code})` }
    const refusal = this.#right.refusal()
    return refusal === null ? { ok: true } : { ok: false, reason: refusal }
  }

  /**
   * Runs reads, and waits while the database is unavailable. If the connection is lost, runs `work` again.
   * @throws StoreUnavailableError
   */
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
   * Runs a transaction, and waits while the database is unavailable. Repeats the transaction if it was
   * certainly rolled back.
   * @throws StoreUnavailableError if the database stays unavailable, or if the outcome of the transaction is
   * unknown
   */
  write<Asked, Result>(transaction: SqlTransaction<Asked, Result>): Promise<Result> {
    return this.#write((session) => runSqlTransaction(session, transaction))
  }

  /** Like `write`, for a transaction that is sent in one round trip. See `runSqlBatch`. */
  writeBatch<Result>(send: (session: DatabaseSession) => Promise<Result>): Promise<Result> {
    return this.#write((session) => runSqlBatch(session, send))
  }

  async #write<Result>(run: (session: DatabaseSession) => Promise<Result>): Promise<Result> {
    const startedAt = performance.now()
    for (let collisions = 0; ; ) {
      try {
        return await this.once((session) => this.#permitted(session, run))
      } catch (error) {
        if (!(error instanceof TransactionRolledBackError)) throw toPublicError(error)
        if (isCollision(error) && collisions < collisionsMax) collisions += 1
        else if (!isAway(error) || this.#isLate(startedAt)) throw toPublicError(error)
        else if (!endsConnection(error)) await sleep(undonePauseMs)
      }
    }
  }

  /** Runs a transaction if this process may write. */
  async #permitted<Result>(
    session: DatabaseSession,
    run: (session: DatabaseSession) => Promise<Result>,
  ): Promise<Result> {
    if (this.#right.refusal() !== null)
      await this.#right.renew(session).catch((error: unknown) => {
        throw new TransactionRolledBackError(error)
      })
    const refusal = this.#right.refusal()
    if (refusal !== null) throw new StoreUnavailableError(refusal)
    return run(session)
  }

  #isLate(startedAt: number): boolean {
    return this.#hold.signal.aborted || performance.now() - startedAt > this.#options.holdMs
  }

  /**
   * Runs `work` once. No other call uses the connection meanwhile.
   * @throws the errors of `work`; StoreUnavailableError if there is no connection
   */
  once<T>(work: (session: DatabaseSession) => Promise<T>): Promise<T> {
    return this.#slots.run('', async () => {
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
        // This error means a wrong configuration only if no connection has ever succeeded. Otherwise it may
        // occur for a while during a restart or a failover.
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

  /**
   * Connects to a server that accepts writes, and renews the permission.
   * @throws the error if that fails; the next attempt then uses the next server, if there are several
   */
  async #reach(): Promise<void> {
    const [tried, connections] = [this.#urls[0], this.#current]
    try {
      await this.aside((session) => this.#right.renew(session))
    } catch (error) {
      // Moves the server to the end of the list, unless another call has already done so.
      if (this.#urls[0] === tried) this.#urls.push(...this.#urls.splice(0, 1))
      this.#leave(connections)
      throw error
    }
  }

  /**
   * Prepares a new connection.
   * @throws Error if a standby was promoted in place of this server. Such a server still accepts writes, but
   * lacks the newer data of the promoted standby.
   */
  async #prepare(session: DatabaseSession): Promise<void> {
    const servers = this.#urls.length === 1 ? 'one' : 'several'
    const timeline = await prepareSession(session, this.#options, servers)
    if (timeline < this.#timeline)
      throw new Error(
        'this server is outdated, because a standby was promoted in its place: configure it as a standby of the new primary before you use it again',
      )
    // A standby was promoted, so the answers of the previous server are no longer needed.
    if (timeline > this.#timeline) for (const former of this.#former.keys()) former.cut()
    this.#timeline = timeline
  }

  #connections(): ConnectionPool {
    return new ConnectionPool(this.#urls[0], this.#options, {
      prepare: (client) => this.#prepare(this.#sessionOf(client)),
      ended: () => void this.#reach().catch(() => undefined),
    })
  }

  /**
   * Replaces a pool with a new one. No connection of the old pool is used again, even if its server is still
   * available.
   */
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

  /**
   * Runs `work` on the additional connection. So `work` runs even if all other connections are in use, or
   * during an outage.
   */
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

  /**
   * Runs `work` on a connection that nothing else uses. The connection may serve for hours. It is cut when this
   * process changes to another server, and each statement then fails.
   */
  async apart(work: (session: DatabaseSession, client: ClientBase) => Promise<void>): Promise<void> {
    const client = await this.#current.connectApart()
    try {
      await work(this.#sessionOf(client), client)
    } finally {
      client.release(true)
    }
  }

  /** Makes all calls that wait for an unavailable database, now or later, fail immediately. */
  endHolding(): void {
    this.#hold.abort()
  }

  async close(): Promise<void> {
    this.endHolding()
    this.#stop.abort()
    await Promise.all([this.#current.end(), ...this.#former.values()])
  }
}
