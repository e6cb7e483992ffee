import { type Client, type ClientBase, Pool, type PoolClient } from 'pg'

/**
 * Time in ms for which the client waits longer than the limit of a statement, so that the server can report
 * that the limit was reached.
 */
const graceMs = 5000
/**
 * Maximum time in ms that the server waits within a transaction for the next statement. The time must suffice
 * to send a large update. It must not be long either: if a client stops or is disconnected, its transaction
 * keeps its locks for this time, and others wait for these locks, each for at most the duration of a
 * statement.
 */
const unfinishedMs = 10_000

/** Maximum time in ms to establish a connection. */
export const connectTimeoutMs = 5_000
const statementTimeoutMsDefault = 30_000

export interface ConnectionOptions {
  /** Maximum number of connections, in addition to one for maintenance and one for messages between nodes. */
  readonly poolSize: number
  /** Maximum duration of one statement, in ms. Default 30,000. */
  readonly statementTimeoutMs?: number | undefined
}

interface ConnectionEvents {
  /**
   * Prepares a new connection. If it returns a promise that rejects, the connection is not used. (The types
   * of the library do not mention this.)
   */
  readonly prepare: (client: ClientBase) => unknown
  /** Called when the server has ended an idle connection. */
  readonly ended: () => void
}

/** A pool of connections to one server. */
export class ConnectionPool {
  readonly #pool: Pool
  readonly #open = new Set<ClientBase>()
  /** The connections that `connectApart` returned. */
  readonly #apart = new Set<ClientBase>()

  constructor(url: string | undefined, options: ConnectionOptions, { prepare, ended }: ConnectionEvents) {
    const { statementTimeoutMs = statementTimeoutMsDefault } = options
    this.#pool = new Pool({
      connectionString: url,
      max: options.poolSize + 2,
      connectionTimeoutMillis: connectTimeoutMs,
      statement_timeout: statementTimeoutMs,
      query_timeout: statementTimeoutMs + graceMs,
      idle_in_transaction_session_timeout: unfinishedMs,
      idleTimeoutMillis: 60_000,
      keepAlive: true,
      pipeline: true,
      fallback_application_name: 'weft',
      onConnect: prepare,
    })
    this.#pool.on('connect', (client) => {
      this.#open.add(client)
      client.on('error', () => undefined).once('end', () => this.#open.delete(client))
    })
    // Ends a lost connection immediately. Otherwise the library would wait for an answer that never arrives.
    this.#pool.on('release', (isLost: unknown, client) => {
      if (isLost) cut(client)
    })
    // Called when the server has ended an idle connection. The server may still be available.
    this.#pool.on('error', ended)
  }

  connect(): Promise<PoolClient> {
    return this.#pool.connect()
  }

  /** Like `connect`, for a connection that is kept for long. `end` cuts it. */
  async connectApart(): Promise<PoolClient> {
    const client = await this.connect()
    this.#apart.add(client)
    client.once('end', () => this.#apart.delete(client))
    if (this.#pool.ending) cut(client)
    return client
  }

  /**
   * Stops handing out connections. A connection in use is closed when its user returns it. Resolves when all
   * connections are closed.
   */
  end(): Promise<void> {
    for (const client of this.#apart) cut(client)
    return this.#pool.end()
  }

  /**
   * Ends all connections immediately, including connections in use. Calls that wait for an answer fail with
   * ConnectionLostError.
   */
  cut(): void {
    for (const client of this.#open) cut(client)
  }
}

const cut = (client: ClientBase): unknown => (client as Client).connection.stream.destroy()
