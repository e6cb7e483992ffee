import { type Client, type ClientBase, Pool, type PoolClient, types } from 'pg'

/** Additional time for the server to report that a statement has reached its limit, in ms. */
const graceMs = 5000
/**
 * How long the server waits within a transaction for the next statement, in ms. A large update needs some
 * time. But a client that has stopped or is disconnected keeps its locks until then, and others wait for
 * them, each for as long as a statement may take.
 */
const unfinishedMs = 10_000

export interface ConnectionOptions {
  /** Maximum number of connections, without the one for maintenance. */
  readonly poolSize: number
  /** How long one statement may take, in ms. */
  readonly statementTimeoutMs: number
  /** How long connecting may take, in ms. */
  readonly connectTimeoutMs: number
}

export interface ConnectionEvents {
  /**
   * Prepares a connection. If the returned promise rejects, the connection is not used. The library's type
   * does not state that.
   */
  readonly prepare: (client: ClientBase) => unknown
  /** An idle connection has ended. */
  readonly ended: () => void
}

/** Connections to one server. */
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
    // The library would wait for the missing answer.
    this.#pool.on('release', (isLost: unknown, client) => {
      if (isLost) cut(client)
    })
    // A server that ends an idle connection may still serve.
    this.#pool.on('error', ended)
  }

  connect(): Promise<PoolClient> {
    return this.#pool.connect()
  }

  /**
   * Gives out no further connection and closes those in use when they are returned; resolves when all are
   * closed.
   */
  end(): Promise<void> {
    return this.#pool.end()
  }

  /** Also ends the connections in use: calls that wait for an answer fail with a lost connection. */
  cut(): void {
    for (const client of this.#open) cut(client)
  }
}

const cut = (client: ClientBase): unknown => (client as Client).connection.stream.destroy()
