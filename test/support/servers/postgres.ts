import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { selfSigned } from './certificates.ts'
import { asPostgres, initialize, PostgresProcess, postgresDirectory, type Row } from './postgres-process.ts'

export { noPostgres } from './postgres-process.ts'

/** An empty PostgreSQL on a loopback port. `remove` deletes it. */
export interface PostgresServer {
  readonly url: string
  readonly port: number
  /** The id of the main process. */
  readonly pid: number
  /** Runs a statement. */
  sql(text: string): Promise<readonly Row[]>
  /** Returns an unused name for a schema. */
  newSchema(): string
  /** Ends all its processes at once, like a power loss. */
  kill(): Promise<void>
  /** After `kill`: starts it on the same port with the data on disk. */
  start(): Promise<void>
  remove(): Promise<void>
}

/** @throws if no PostgreSQL can run here (`noPostgres`) */
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
 * Starts a server with a certificate of the authority `ca` (the path of a file). It also accepts connections
 * without TLS.
 */
export async function startEncrypted() {
  const directory = postgresDirectory()
  const [data, ca, given, key] = ['data', 'cert.pem', 'given.pem', 'key.pem'].map((name) =>
    join(directory, name),
  ) as [string, string, string, string]
  const made = selfSigned('IP:127.0.0.1')
  writeFileSync(ca, made.cert)
  writeFileSync(given, made.key)
  // PostgreSQL rejects a key that other users can read or own.
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
