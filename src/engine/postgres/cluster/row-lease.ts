import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PostgresDatabase } from '../connection/database.ts'
import { type DatabaseSession, statement } from '../connection/database-session.ts'

/** A database that has not even said so much after so long is away, in ms: another server may serve in its place. */
const patienceMs = 5_000

/** Takes or renews it; no row where somebody else holds it. The time is the database's own. */
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

/** How often somebody who waits for a lease looks whether it has ended, in ms. */
const lookEveryMs = 100

/**
 * What somebody renews from time to time. Once is no sign of life: what was under way when its holder died may be done
 * after that.
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

/** A named right that one process has at a time, in a row that it renews. One whose holder is gone ends by itself. */
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

  /** Takes or renews it. False when somebody else holds it. */
  async take(session: DatabaseSession): Promise<boolean> {
    return (await session.rows(take, [this.#name, this.holder, this.#ms])).length > 0
  }

  /** Waits until it is free. False when `isHopeless` says of its holder that there is no point. */
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

  /** Null where nobody does. */
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
