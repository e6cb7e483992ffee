import { type ClientBase, DatabaseError, type QueryConfig } from 'pg'
import { ConnectionLostError } from './postgres-errors.ts'

/** A named statement, prepared once for each connection. `R` is the shape of its rows. */
export interface Statement<R> {
  readonly name: string
  readonly text: string
  /**
   * Time without an answer after which the connection counts as lost, in ms. Default: the limit for all
   * statements.
   */
  readonly patienceMs?: number
  /** Always absent: it carries the type. */
  readonly row?: R
}

export const statement = <R = unknown>(name: string, text: string, patienceMs?: number): Statement<R> =>
  patienceMs === undefined ? { name, text } : { name, text, patienceMs }

/**
 * The routine in which PostgreSQL waits for its standbys. A notice from it states that the wait has ended
 * early and that the commit is done anyway.
 */
const standbyRoutine = 'SyncRepWaitForLSN'

/**
 * A connection: one object for all of its consecutive users. Statements that are sent without an `await` in
 * between go out together.
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
    return (await this.#query({ name, text, values: [...values], ...patience })).rows as R[]
  }

  /**
   * Runs one or several commands without parameters; returns the command tag.
   * @throws DatabaseError, ConnectionLostError
   */
  async command(text: string): Promise<string> {
    return (await this.#query({ text })).command
  }

  async #query(query: QueryConfig & { readonly query_timeout?: number }) {
    const result = await this.#client.query(query).catch((error: unknown) => {
      throw error instanceof DatabaseError ? error : new ConnectionLostError(error)
    })
    // If that server is lost, the commit is lost as well: the outcome counts as unknown.
    if (this.#commits === 'onOneServerOnly') throw new ConnectionLostError(new Error('no standby answers'))
    return result
  }
}

/**
 * Resolves with all results when all promises have settled: a connection is returned only when it is idle.
 * @throws the first error
 */
export async function allSettled<T extends readonly unknown[]>(
  asked: readonly [...{ [K in keyof T]: Promise<T[K]> }],
): Promise<T> {
  const ended = await Promise.allSettled(asked as readonly Promise<unknown>[])
  for (const each of ended) if (each.status === 'rejected') throw each.reason
  return ended.map((each) => (each.status === 'fulfilled' ? each.value : undefined)) as unknown as T
}
