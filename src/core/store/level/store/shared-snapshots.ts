import { BatchedReads } from './batched-reads.ts'
import { type DatabaseSnapshot, type LevelDatabase, type ReadSnapshot, rangesOf, readerOf } from './reads.ts'

/**
 * Provides one snapshot to all callers that need a snapshot in the same tick. The reads of these callers are
 * also combined.
 */
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

  /** Closes the current snapshot for new callers. Later callers get a new snapshot. */
  end(): void {
    // If releasing the snapshot fails, the database releases it when it closes.
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

/** A snapshot that several readers use. It is released when the last reader has left. */
class TickSnapshot {
  readonly #snapshot: DatabaseSnapshot
  readonly #batched: BatchedReads
  readonly #ranges: ReturnType<typeof rangesOf>
  /** Number of readers, plus 1 as long as further readers can join. */
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
