import { type Client, type ClientBase, Pool, type PoolClient, types } from 'pg'

/**
 * Time in ms that is added to the limit of a statement, so that the server can report that the limit was
 * reached.
 */
const graceMs = 5000
/**
 * Maximum time in ms that the server waits within a transaction for the next statement. A large update needs
 * some time. But if a client has stopped or is disconnected, its locks remain until this time has passed.
 * Others wait for these locks, each for as long as a statement may take.
 */
const unfinishedMs = 10_000

export interface ConnectionOptions {
  /** Maximum number of connections, without the additional connection for maintenance. */
  readonly poolSize: number
  /** Maximum duration of one statement, in ms. */
  readonly statementTimeoutMs: number
  /** Maximum time for connecting, in ms. */
  readonly connectTimeoutMs: number
}

export interface ConnectionEvents {
  /**
   * Prepares a new connection. If it returns a promise that rejects, the connection is not used; the type of
   * the library does not mention this.
   */
  readonly prepare: (client: ClientBase) => unknown
  /** Called when an idle connection has ended. */
  readonly ended: () => void
}

/** A pool of connections to one server. */
export class ConnectionPool {
  readonly #pool: Pool
  readonly #open = new Set<ClientBase>()

  constructor(url: string | undefined, options: ConnectionOptions, { prepare, ended }: ConnectionEvents) {
    this.#pool = new Pool({
      connectionString: url,
      max: options.poolSize + 1,
      connectionTimeoutMillis: options.connectTimeoutMs,
      statement_timeout: options.statementTimeoutMs,
      query_timeout: options.statementTimeoutMs + graceMs,
      idle_in_transaction_session_timeout: unfinishedMs,
      idleTimeoutMillis: 60_000,
      keepAlive: true,
      pipeline: true,
      fallback_application_name: 'weft',
      types: {
        getTypeParser: (oid, format) =>
          oid === types.builtins.INT8 ? Number : types.getTypeParser(oid, format),
      },
      onConnect: prepare,
    })
    this.#pool.on('connect', (client) => {
      this.#open.add(client)
      client.on('error', () => undefined).once('end', () => this.#open.delete(client))
    })
    // Ends a lost connection immediately; otherwise the library would wait for the missing answer.
    this.#pool.on('release', (isLost: unknown, client) => {
      if (isLost) cut(client)
    })
    // The server may have ended only an idle connection, and may still be available.
    this.#pool.on('error', ended)
  }

  connect(): Promise<PoolClient> {
    return this.#pool.connect()
  }

  /**
   * Hands out no further connection. Connections in use are closed when they are returned. Resolves when all
   * connections are closed.
   */
  end(): Promise<void> {
    return this.#pool.end()
  }

  /**
   * Ends all connections immediately, including those in use. Calls that wait for an answer fail with
   * ConnectionLostError.
   */
  cut(): void {
    for (const client of this.#open) cut(client)
  }
}

const cut = (client: ClientBase): unknown => (client as Client).connection.stream.destroy()
