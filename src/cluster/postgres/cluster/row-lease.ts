import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PostgresDatabase } from '../connection/database.ts'
import { type DatabaseSession, statement } from '../connection/database-session.ts'

/**
 * Maximum time in ms for the answer to the statement that renews a lease. If the answer is later, the
 * database counts as unavailable, because another database server may have replaced it.
 */
const patienceMs = 5_000

/**
 * Statement that acquires or renews a lease. Returns no row if another process holds it. Its times are those
 * of the database clock.
 */
const take = statement(
  'take-lease',
  `insert into lease as l (name, holder, until) values ($1, $2, clock_timestamp() + $3 * interval '1 ms')
   on conflict (name) do update set holder = excluded.holder, until = excluded.until
   where l.holder = excluded.holder or l.until <= clock_timestamp()
   returning 1`,
  patienceMs,
)
const give = statement('give-lease', 'delete from lease where name = $1 and holder = $2')
const look = statement<{ until: string; holder: string }>(
  'look-at-lease',
  'select until::text, holder from lease where name = $1',
)

/** Interval in ms at which a waiting process checks whether the lease has ended. */
const lookEveryMs = 100

/**
 * Detects whether the holder of a lease is alive. A live holder renews its lease repeatedly. One renewal
 * proves nothing: a statement that was in progress when the holder died may still be executed.
 */
export class LeaseMonitor {
  readonly #seen = new Set<string>()

  note(sign: string | null): void {
    if (sign !== null) this.#seen.add(sign)
  }

  get isAlive(): boolean {
    return this.#seen.size > 2
  }
}

/**
 * A lease that only one process at a time can hold. It is stored in a row, which the holder renews regularly.
 * If the holder dies, the lease expires.
 */
export class RowLease {
  readonly holder = randomUUID()
  readonly #database: PostgresDatabase
  readonly #name: string
  readonly #ms: number

  constructor(database: PostgresDatabase, name: string, ms: number) {
    this.#database = database
    this.#name = name
    this.#ms = ms
  }

  /** Acquires the lease, or renews it if this process holds it. Returns false if another process holds it. */
  async take(session: DatabaseSession): Promise<boolean> {
    return (await session.rows(take, [this.#name, this.holder, this.#ms])).length > 0
  }

  /**
   * Waits until the lease is free, then acquires it. Returns false if `isHopeless` returned true while
   * another process held the lease.
   * @param isHopeless gets true if that process keeps renewing the lease
   */
  async wait(isHopeless: (renewed: boolean) => boolean): Promise<boolean> {
    const signs = new LeaseMonitor()
    signs.note(await this.#until())
    while (!(await this.#database.once((session) => this.take(session)))) {
      signs.note(await this.#until())
      if (isHopeless(signs.isAlive)) return false
      await sleep(lookEveryMs)
    }
    return true
  }

  /** Returns the holder of the lease; null if there is none. */
  async readHolder(): Promise<string | null> {
    return (await this.#look())?.holder ?? null
  }

  async #until(): Promise<string | null> {
    return (await this.#look())?.until ?? null
  }

  async #look() {
    const [row] = await this.#database.read((session) => session.rows(look, [this.#name]))
    return row
  }

  async give(): Promise<void> {
    await this.#database.once((session) => session.rows(give, [this.#name, this.holder]))
  }
}
