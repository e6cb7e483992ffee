import type { Log } from '../../../log.ts'
import { EngineOpenError } from '../../engine.ts'
import type { PostgresDatabase, WritePermission } from '../connection/database.ts'
import type { DatabaseSession } from '../connection/database-session.ts'
import { clusterHolder, schemaLease } from './node-rows.ts'
import { RowLease } from './row-lease.ts'

/** How long the lease of a node lasts that renews it no more, and how often it is renewed, in ms. */
const leaseMs = 10_000
const renewEveryMs = 2_500

/**
 * The right of one process to use a schema: what it remembers of documents nobody else changes. A process that could
 * not renew it in time writes nothing until it has it again, and nothing at all once another one has it.
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

  /** Waits for the end of a lease that nobody renews. @throws EngineOpenError where somebody does */
  static async take(database: PostgresDatabase, { schema, log }: { schema: string; log: Log | undefined }) {
    const node = new SchemaLease(database, log)
    const takenAt = performance.now()
    if (!(await node.#lease.wait((isRenewed) => isRenewed))) {
      throw new EngineOpenError('locked', inUse(schema, await node.#lease.readHolder()))
    }
    // Another one may have been waited for; from the last try on it is ours for longer than this says.
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

  /** What fails is the database's matter: it tells the log, and renews when it is back. */
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
    this.#log?.error('another server has taken over this schema: this one writes nothing more')
  }

  /** The next one need not wait. */
  async give(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    await this.#beating
    if (this.#state === 'held') await this.#lease.give().catch(() => undefined)
  }
}

const inUse = (schema: string, holder: string | null): string =>
  holder === clusterHolder
    ? `the schema ${schema} of the database is in use by servers that share it: give this one the bus, too, or stop them`
    : `the schema ${schema} of the database is in use by another server: stop it, or name another schema`
