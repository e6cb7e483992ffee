import { type ClientBase, DatabaseError, type QueryConfig } from 'pg'
import { ConnectionLostError } from './postgres-errors.ts'

/** A statement with a name, prepared once a connection. `R` is the shape of its rows. */
export interface Statement<R> {
  readonly name: string
  readonly text: string
  /** After so many ms without an answer the connection counts as lost; unless given, what holds for all statements. */
  readonly patienceMs?: number
  /** Never there: it carries the type. */
  readonly row?: R
}

export const statement = <R = unknown>(name: string, text: string, patienceMs?: number): Statement<R> =>
  patienceMs === undefined ? { name, text } : { name, text, patienceMs }

/** Where PostgreSQL waits for its standbys. It says from there that it has given up, and that the commit is done all the same. */
const standbyRoutine = 'SyncRepWaitForLSN'

/**
 * A connection, one object for all who have it to themselves one after the other. What is asked without an `await` in
 * between goes out together.
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

  /** @throws DatabaseError, ConnectionLostError */
  async rows<R>({ name, text, patienceMs }: Statement<R>, values: readonly unknown[]): Promise<readonly R[]> {
    const patience = patienceMs === undefined ? {} : { query_timeout: patienceMs }
    return (await this.#query({ name, text, values: [...values], ...patience })).rows as R[]
  }

  /** A command without parameters, or several; the tag of what was done. @throws DatabaseError, ConnectionLostError */
  async command(text: string): Promise<string> {
    return (await this.#query({ text })).command
  }

  async #query(query: QueryConfig & { readonly query_timeout?: number }) {
    const result = await this.#client.query(query).catch((error: unknown) => {
      throw error instanceof DatabaseError ? error : new ConnectionLostError(error)
    })
    // Should that server be lost, so is the commit: as if nobody had been told how it has ended.
    if (this.#commits === 'onOneServerOnly') throw new ConnectionLostError(new Error('no standby answers'))
    return result
  }
}

/** All of them, when all have ended: a connection is given back only when it is at rest. @throws the first error */
export async function allSettled<T extends readonly unknown[]>(
  asked: readonly [...{ [K in keyof T]: Promise<T[K]> }],
): Promise<T> {
  const ended = await Promise.allSettled(asked as readonly Promise<unknown>[])
  for (const each of ended) if (each.status === 'rejected') throw each.reason
  return ended.map((each) => (each.status === 'fulfilled' ? each.value : undefined)) as unknown as T
}
