import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { initialize, PostgresProcess, postgresDirectory, type Row } from './postgres-process.ts'

export { noPostgres } from './postgres-process.ts'

/** A PostgreSQL of our own: empty, on a loopback port, gone when it is removed. */
export interface PostgresServer {
  readonly url: string
  readonly port: number
  /** The process that started all others. */
  readonly pid: number
  /** Runs a statement. */
  sql(text: string): Promise<readonly Row[]>
  /** A name that no schema has. */
  newSchema(): string
  /** Ends all its processes at once, as a loss of power would. */
  kill(): Promise<void>
  /** After `kill`: on the same port, over what is on the disk. */
  start(): Promise<void>
  remove(): Promise<void>
}

/** @throws unless there can be one (`noPostgres`) */
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
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
