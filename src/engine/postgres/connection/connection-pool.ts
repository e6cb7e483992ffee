import { type Client, type ClientBase, Pool, type PoolClient, types } from 'pg'

/** What the server is given beyond a statement's own limit to say that it has been reached. */
const graceMs = 5000
/**
 * How long the server waits within a transaction for what is sent next: a large update takes its time, but who has stopped,
 * or is cut off, keeps his locks until then, and others wait for them, each as long as a statement may take.
 */
const unfinishedMs = 10_000

export interface ConnectionOptions {
  /** Connections at most, one for looking after the database not counted. */
  readonly poolSize: number
  /** How long one statement may take. */
  readonly statementTimeoutMs: number
  /** How long making a connection may take. */
  readonly connectTimeoutMs: number
}

export interface ConnectionEvents {
  /** Makes a connection ready; it is of no use where what this returns rejects. The library's type does not say so. */
  readonly prepare: (client: ClientBase) => unknown
  /** One that nobody was using has ended. */
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
    // The library would wait for the answer that has not come.
    this.#pool.on('release', (isLost: unknown, client) => {
      if (isLost) cut(client)
    })
    // Somebody may end a connection that nobody uses, and serve all the same.
    this.#pool.on('error', ended)
  }

  connect(): Promise<PoolClient> {
    return this.#pool.connect()
  }

  /** None is given out any more, and those in use are closed when they are given back; resolves when all are. */
  end(): Promise<void> {
    return this.#pool.end()
  }

  /** Ends those in use, too: whoever waits for an answer learns that his connection is lost. */
  cut(): void {
    for (const client of this.#open) cut(client)
  }
}

const cut = (client: ClientBase): unknown => (client as Client).connection.stream.destroy()
