import { Gathered } from './gathered.ts'
import { type Database, type DatabaseSnapshot, rangesOf, readerOf, type Snapshot } from './reads.ts'

/** One moment for all who want to see one in the same turn of the event loop: what they read is read together, too. */
export class SharedMoments {
  readonly #database: Database
  #current: Moment | null = null

  constructor(database: Database) {
    this.#database = database
  }

  enter(): Snapshot {
    this.#current ??= this.#begin()
    return this.#current.enter()
  }

  /** Whoever comes from now on sees a later one. */
  end(): void {
    // One that cannot be let go is let go with the database.
    this.#current?.leave().catch(() => undefined)
    this.#current = null
  }

  #begin(): Moment {
    const moment = new Moment(this.#database)
    setImmediate(() => {
      if (this.#current === moment) this.end()
    })
    return moment
  }
}

/** Is let go when nobody needs it any more. */
class Moment {
  readonly #snapshot: DatabaseSnapshot
  readonly #gathered: Gathered
  readonly #ranges: ReturnType<typeof rangesOf>
  /** Those who look, and one until nobody can come any more. */
  #users = 1

  constructor(database: Database) {
    this.#snapshot = database.snapshot()
    this.#ranges = rangesOf(database, this.#snapshot)
    this.#gathered = new Gathered(readerOf(database, this.#snapshot))
  }

  enter(): Snapshot {
    this.#users += 1
    return {
      get: (key) => this.#gathered.get(key),
      ...this.#ranges,
      close: () => this.leave(),
    }
  }

  async leave(): Promise<void> {
    this.#users -= 1
    if (this.#users === 0) await this.#snapshot.close()
  }
}
