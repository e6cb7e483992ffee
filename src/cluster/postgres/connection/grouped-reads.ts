import { runUntraced } from '../../../core/base/current-trace.ts'
import type { PostgresDatabase } from './database.ts'
import type { DatabaseSession } from './database-session.ts'

/** A call that waits for its group. `size` is the number of keys that it reads. */
interface WaitingRead<Call, Answer> {
  readonly call: Call
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

/** Maximum number of groups that are read in parallel. */
const groupsMax = 4

/**
 * Reads for many callers together: the calls of one tick are one group. While `groupsMax` groups are being
 * read, later calls wait and form the next group.
 */
export class GroupedReads<Call, Answer> {
  readonly #database: PostgresDatabase
  /** Reads a group. Returns the answers in the order of the calls. */
  readonly #read: (session: DatabaseSession, calls: readonly Call[]) => Promise<readonly Answer[]>
  /** Maximum number of calls in one group. */
  readonly #callsMax: number
  #waiting: WaitingRead<Call, Answer>[] = []
  #groups = 0
  #isScheduled = false

  constructor(
    database: PostgresDatabase,
    read: (session: DatabaseSession, calls: readonly Call[]) => Promise<readonly Answer[]>,
    callsMax: number,
  ) {
    this.#database = database
    this.#read = read
    this.#callsMax = callsMax
  }

  /** @throws StoreUnavailableError */
  read(call: Call): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, resolve, reject })
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#isScheduled || this.#groups === groupsMax) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      // A group has reads of many callers, so it belongs to the trace of none.
      void runUntraced(() => this.#readGroup(this.#waiting.splice(0, this.#callsMax)))
      if (this.#waiting.length > 0) this.#schedule()
    })
  }

  async #readGroup(group: readonly WaitingRead<Call, Answer>[]): Promise<void> {
    this.#groups += 1
    try {
      const answers = await this.#database.read((session) =>
        this.#read(
          session,
          group.map(({ call }) => call),
        ),
      )
      for (const [index, { resolve }] of group.entries()) resolve(answers[index] as Answer)
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
    this.#groups -= 1
    if (this.#waiting.length > 0) this.#schedule()
  }
}
