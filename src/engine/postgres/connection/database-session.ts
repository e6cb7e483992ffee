import { type ClientBase, DatabaseError, type QueryConfig } from 'pg'
import { ConnectionLostError } from './postgres-errors.ts'

/** A named SQL statement. Each connection prepares it once. `R` is the type of its rows. */
export interface Statement<R> {
  readonly name: string
  readonly text: string
  /**
   * Maximum time in ms to wait for the answer. After that time, the connection counts as lost. Default: the
   * limit that applies to all statements.
   */
  readonly patienceMs?: number
  /** Has no value at run time. It exists only so that the type contains `R`. */
  readonly row?: R
}

export const statement = <R = unknown>(name: string, text: string, patienceMs?: number): Statement<R> =>
  patienceMs === undefined ? { name, text } : { name, text, patienceMs }

/**
 * Name of the routine in which PostgreSQL waits for its standbys. A notice from this routine means that the
 * wait has ended early and that the commit was made without the standbys.
 */
const standbyRoutine = 'SyncRepWaitForLSN'

/**
 * A connection to the database. The same object serves all consecutive users of the connection. Statements
 * that are sent without an `await` between them are sent together.
 */
export class DatabaseSession {
  readonly #client: ClientBase
  #commits: 'asWanted' | 'onOneServerOnly' = 'asWanted'

  constructor(client: ClientBase) {
    this.#client = client
    client.on('notice', ({ routine }) => {
      if (routine === standbyRoutine) this.#commits = 'onOneServerOnly'
    })
  }

  /** Runs a statement and returns its rows. @throws DatabaseError, ConnectionLostError */
  async rows<R>({ name, text, patienceMs }: Statement<R>, values: readonly unknown[]): Promise<readonly R[]> {
    const patience = patienceMs === undefined ? {} : { query_timeout: patienceMs }
    return (await this.#query({ name, text, values: [...values], ...patience })).rows
  }

  /**
   * Runs one or more commands without parameters. Returns the command tag.
   * @throws DatabaseError, ConnectionLostError
   */
  async command(text: string): Promise<string> {
    return (await this.#query({ text })).command
  }

  async #query(query: QueryConfig & { readonly query_timeout?: number }) {
    const result = await this.#client.query(query).catch((error: unknown) => {
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
