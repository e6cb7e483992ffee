import { BatchedReads } from './batched-reads.ts'
import { type DatabaseSnapshot, type LevelDatabase, type ReadSnapshot, rangesOf, readerOf } from './reads.ts'

/** One moment for all who want to see one in the same turn of the event loop: what they read is read together, too. */
export class SharedSnapshots {
  readonly #database: LevelDatabase
  #current: TickSnapshot | null = null

  constructor(database: LevelDatabase) {
    this.#database = database
  }

  enter(): ReadSnapshot {
    this.#current ??= this.#begin()
    return this.#current.enter()
  }

  /** Whoever comes from now on sees a later one. */
  end(): void {
    // One that cannot be let go is let go with the database.
    this.#current?.leave().catch(() => undefined)
    this.#current = null
  }

  #begin(): TickSnapshot {
    const moment = new TickSnapshot(this.#database)
    setImmediate(() => {
      if (this.#current === moment) this.end()
    })
    return moment
  }
}

/** Is let go when nobody needs it any more. */
class TickSnapshot {
  readonly #snapshot: DatabaseSnapshot
  readonly #batched: BatchedReads
  readonly #ranges: ReturnType<typeof rangesOf>
  /** Those who look, and one until nobody can come any more. */
  #users = 1

  constructor(database: LevelDatabase) {
    this.#snapshot = database.snapshot()
    this.#ranges = rangesOf(database, this.#snapshot)
    this.#batched = new BatchedReads(readerOf(database, this.#snapshot))
  }

  enter(): ReadSnapshot {
    this.#users += 1
    return {
      get: (key) => this.#batched.get(key),
      ...this.#ranges,
      close: () => this.leave(),
    }
  }

  async leave(): Promise<void> {
    this.#users -= 1
    if (this.#users === 0) await this.#snapshot.close()
  }
}
