import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { selfSigned } from './certificates.ts'
import { asPostgres, initialize, PostgresProcess, postgresDirectory, type Row } from './postgres-process.ts'

/** An empty PostgreSQL server on a port of the loopback address. `remove` ends it and deletes its files. */
export interface PostgresServer {
  readonly url: string
  readonly port: number
  /** Process id of the main process. */
  readonly pid: number
  /** Runs an SQL statement. */
  sql(text: string): Promise<readonly Row[]>
  /** Returns a schema name that is not in use. */
  newSchema(): string
  /** Kills all processes of the server at the same time, like a power loss. */
  kill(): Promise<void>
  /** Starts the server again after `kill`, on the same port and with the data on disk. */
  start(): Promise<void>
  remove(): Promise<void>
}

/** Starts a PostgreSQL server. @throws Error if no PostgreSQL can run here */
export async function startPostgres(): Promise<PostgresServer> {
  const directory = postgresDirectory()
  const data = join(directory, 'data')
  initialize(data)
  const server = await PostgresProcess.of(data)
  await server.start()
  let schemas = 0
  return {
    url: server.url,
    port: server.port,
    get pid() {
      return server.pid
    },
    sql: (text) => server.sql(text),
    newSchema: () => `test_${++schemas}`,
    kill: () => server.kill(),
    start: () => server.start(),
    remove: async () => {
      await server.kill()
      rmSync(directory, { recursive: true, force: true, maxRetries: 20 })
    },
  }
}

/**
 * Starts a PostgreSQL server with TLS. `ca` is the path of the certificate that clients must trust. The
 * server also accepts connections without TLS.
 */
export async function startEncrypted() {
  const directory = postgresDirectory()
  const [data, ca, given, key] = ['data', 'cert.pem', 'given.pem', 'key.pem'].map((name) =>
    join(directory, name),
  ) as [string, string, string, string]
  const made = selfSigned('IP:127.0.0.1')
  writeFileSync(ca, made.cert)
  writeFileSync(given, made.key)
  // The key must belong to the user of PostgreSQL and be readable only by this user. Otherwise, PostgreSQL
  // rejects it.
  asPostgres('install', ['-m', '600', given, key])
  initialize(data)
  const settings = ['ssl=on', `ssl_cert_file=${ca}`, `ssl_key_file=${key}`]
  const encrypted = await PostgresProcess.of(data, settings)
  await encrypted.start()
  const remove = async (): Promise<void> => {
    await encrypted.kill()
    rmSync(directory, { recursive: true, force: true, maxRetries: 20 })
  }
  return { encrypted, ca, remove }
}
