import type { Log } from '../../../core/base/log.ts'
import { EngineOpenError } from '../../../core/store/engine.ts'
import type { PostgresDatabase, WritePermission } from '../connection/database.ts'
import type { DatabaseSession } from '../connection/database-session.ts'
import { clusterHolder, schemaLease } from './node-rows.ts'
import { RowLease } from './row-lease.ts'

/** Duration of the lease if it is not renewed, and interval of the renewals (`renewEveryMs`), in ms. */
const leaseMs = 10_000
const renewEveryMs = 2_500

/**
 * The exclusive right of one process to use a schema. While a process has the lease, no other process changes
 * the documents that it caches. A process that cannot renew the lease in time writes nothing until it has the
 * lease again. If another process has acquired the lease in the meantime, the first process never writes
 * again.
 */
export class SchemaLease implements WritePermission {
  readonly #database: PostgresDatabase
  readonly #lease: RowLease
  readonly #log: Log | undefined
  #timer: NodeJS.Timeout | null = null
  #beating: Promise<void> | null = null
  #validUntil = 0
  #state: 'held' | 'taken' = 'held'

  private constructor(database: PostgresDatabase, log: Log | undefined) {
    this.#database = database
    this.#lease = new RowLease(database, schemaLease, leaseMs)
    this.#log = log
  }

  /**
   * Acquires the lease. If another process holds the lease but does not renew it, waits until the lease ends.
   * @throws EngineOpenError if the other process renews the lease
   */
  static async take(database: PostgresDatabase, { schema, log }: { schema: string; log: Log | undefined }) {
    const node = new SchemaLease(database, log)
    const takenAt = performance.now()
    if (!(await node.#lease.wait((isRenewed) => isRenewed))) {
      throw new EngineOpenError('locked', inUse(schema, await node.#lease.readHolder()))
    }
    // If `wait` has waited for another holder, `takenAt` is too early. The last attempt acquired the lease,
    // so the lease counts as acquired `renewEveryMs` ago.
    node.#validUntil = Math.max(takenAt, performance.now() - renewEveryMs) + leaseMs
    node.#schedule()
    return node
  }

  refusal(): string | null {
    if (this.#state === 'taken') return 'another server has taken over this schema'
    return performance.now() < this.#validUntil
      ? null
      : 'the lease on the schema has ended, and could not be renewed'
  }

  #schedule(): void {
    this.#timer = setTimeout(() => {
      this.#beating = this.#beat()
    }, renewEveryMs)
    this.#timer.unref()
  }

  /**
   * Renews the lease, and schedules the next renewal. If the renewal fails, the database connection logs the
   * error, and renews the lease after the reconnect.
   */
  async #beat(): Promise<void> {
    await this.#database.aside((session) => this.renew(session)).catch(() => undefined)
    if (this.#timer !== null && this.#state === 'held') this.#schedule()
  }

  async renew(session: DatabaseSession): Promise<void> {
    if (this.#state === 'taken') return
    const at = performance.now()
    if (await this.#lease.take(session)) {
      this.#validUntil = at + leaseMs
      return
    }
    this.#state = 'taken'
    this.#log?.error('another server has taken over this schema: this server writes nothing more')
  }

  /** Releases the lease, so that the next process does not have to wait until it ends. */
  async give(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    await this.#beating
    if (this.#state === 'held') await this.#lease.give().catch(() => undefined)
  }
}

const inUse = (schema: string, holder: string | null): string =>
  holder === clusterHolder
    ? `the schema ${schema} of the database is in use by servers; stop them`
    : `the schema ${schema} of the database is in use by another server; stop it, or name another schema`
