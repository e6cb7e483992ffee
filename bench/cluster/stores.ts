import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { atEnd } from '../../src/cli/bench/ending.ts'
import { missing } from '../../test/support/needs.ts'
import {
  initialize,
  PostgresProcess,
  postgresDirectory,
} from '../../test/support/servers/postgres-process.ts'

/** Why this machine cannot measure a cluster; null if it can. With WEFT_TEST_REQUIRED=1, the import throws instead. */
export const noStores: string | null = missing('postgres')

/** Settings that make the database durable. In tests, the database does not write to disk. */
const durable = ['fsync=on', 'shared_buffers=256MB', 'max_wal_size=4GB', 'max_connections=100']

/** The database that all measurements use. */
export interface Stores {
  readonly postgres: PostgresProcess
  /** Returns a schema name that is not in use. */
  newSchema(): string
}

/** Starts the database. It ends together with this process. */
export async function startStores(): Promise<Stores> {
  const directory = postgresDirectory()
  const data = join(directory, 'data')
  initialize(data)
  const postgres = await PostgresProcess.of(data, durable)
  await postgres.start()
  atEnd(() => {
    postgres.killAtOnce()
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
  })
  let schemas = 0
  return {
    postgres,
    newSchema: () => `bench_${++schemas}`,
  }
}

/** Returns the number of bytes that the database has written to its write-ahead log so far. */
export async function walBytes({ postgres }: Stores): Promise<number> {
  const [row] = await postgres.sql(`select (pg_current_wal_insert_lsn() - '0/0')::float8 as bytes`)
  return Number(row?.bytes)
}

/** Returns the size of all tables of a schema in bytes, including indexes and out-of-line storage. */
export async function schemaBytes({ postgres }: Stores, schema: string): Promise<number> {
  const [row] = await postgres.sql(
    `select sum(pg_total_relation_size(c.oid))::float8 as bytes from pg_class c
     join pg_namespace n on n.oid = c.relnamespace where n.nspname = '${schema}' and c.relkind = 'r'`,
  )
  return Number(row?.bytes)
}
