import { type ClientBase, DatabaseError } from 'pg'
import { ConnectionLostError } from './postgres-errors.ts'
import { type BatchedCall, PreparedStatements, type Statement, StatementBatch } from './statement-batch.ts'

export const statement = <R = unknown>(name: string, text: string, patienceMs?: number): Statement<R> =>
  patienceMs === undefined ? { name, text } : { name, text, patienceMs }

/**
 * Name of the routine in which PostgreSQL waits for its standbys. A notice from this routine means that the
 * wait has ended early and that the commit was made without the standbys.
 */
const standbyRoutine = 'SyncRepWaitForLSN'

/** Statements that begin and end a transaction. */
export const begin = statement('begin', 'begin')
export const commit = statement('commit', 'commit')
export const rollback = statement('rollback', 'rollback')

/**
 * A connection to the database. The same object serves all consecutive users of the connection. Statements
 * that are sent without an `await` between them are sent together, as one `StatementBatch`.
 */
export class DatabaseSession {
  readonly #client: ClientBase
  readonly #prepared = new PreparedStatements()
  #waiting: BatchedCall[] = []
  #commits: 'asWanted' | 'onOneServerOnly' = 'asWanted'

  constructor(client: ClientBase) {
    this.#client = client
    client.on('notice', ({ routine }) => {
      if (routine === standbyRoutine) this.#commits = 'onOneServerOnly'
    })
  }

  /** Runs a statement and returns its rows. @throws DatabaseError, ConnectionLostError */
  rows<R>(statement: Statement<R>, values: readonly unknown[] = []): Promise<readonly R[]> {
    const rows = new Promise<readonly unknown[]>((resolve, reject) => {
      this.#waiting.push({ statement, values, resolve, reject })
      if (this.#waiting.length === 1) queueMicrotask(() => this.#send())
    })
    return this.#checked(rows) as Promise<readonly R[]>
  }

  /** Runs one or more commands without parameters. @throws DatabaseError, ConnectionLostError */
  async command(text: string): Promise<void> {
    this.#send()
    await this.#checked(this.#client.query({ text }))
  }

  #send(): void {
    if (this.#waiting.length === 0) return
    const calls = this.#waiting
    this.#waiting = []
    this.#client.query(new StatementBatch(calls, this.#prepared))
  }

  async #checked<T>(answer: Promise<T>): Promise<T> {
    const result = await answer.catch((error: unknown) => {
      throw error instanceof DatabaseError ? error : new ConnectionLostError(error)
    })
    // The commit exists only on this server. If the server is lost, the commit is lost as well, so its
    // outcome counts as unknown.
    if (this.#commits === 'onOneServerOnly') throw new ConnectionLostError(new Error('no standby answers'))
    return result
  }
}

/**
 * Waits until all promises have settled, and returns all results. It does not return earlier after a failure,
 * because a connection may be returned to the pool only when it is idle.
 * @throws the first error
 */
export async function allSettled<T extends readonly unknown[]>(
  asked: readonly [...{ [K in keyof T]: Promise<T[K]> }],
): Promise<T> {
  const ended = await Promise.allSettled(asked as readonly Promise<unknown>[])
  for (const each of ended) if (each.status === 'rejected') throw each.reason
  return ended.map((each) => (each.status === 'fulfilled' ? each.value : undefined)) as unknown as T
}
