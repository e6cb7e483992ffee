import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { missing } from '../../test/support/needs.ts'
import { type NatsServer, startNats } from '../../test/support/servers/nats.ts'
import {
  initialize,
  PostgresProcess,
  postgresDirectory,
  signal,
} from '../../test/support/servers/postgres-process.ts'
import { freePort } from '../../test/support/servers/process.ts'
import { atEnd } from '../support/ending.ts'

/** Why this machine cannot measure a cluster; null if it can. With WEFT_TEST_REQUIRED=1, the import throws instead. */
export const noStores: string | null = missing('postgres') ?? missing('nats-server')

/** Settings that make the database durable. In tests, the database does not write to disk. */
const durable = ['fsync=on', 'shared_buffers=256MB', 'max_wal_size=4GB', 'max_connections=100']

/** The database and the bus that all measurements use. */
export interface Stores {
  readonly postgres: PostgresProcess
  readonly nats: NatsServer
  /** Returns the numbers of messages and bytes that NATS has received and sent so far. */
  natsTold(): Promise<Told>
  /**
   * Returns, for each connection to NATS in the order in which they were opened, the number of messages that
   * NATS has sent to it so far, by subject.
   */
  natsReceived(): Promise<readonly ReadonlyMap<string, number>[]>
  /** Returns a schema name that is not in use. */
  newSchema(): string
}

export interface Told {
  readonly inMessages: number
  readonly inBytes: number
  readonly outMessages: number
  readonly outBytes: number
}

/** Starts the database and the bus. Both end together with this process. */
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
  const monitor = await freePort()
  const nats = await startNats({ configuration: `http: "127.0.0.1:${monitor}"` })
  atEnd(() => signal(nats.pid, 'SIGKILL'))
  let schemas = 0
  return {
    postgres,
    nats,
    natsTold: () => toldBy(`http://127.0.0.1:${monitor}/varz`),
    natsReceived: () => receivedBy(`http://127.0.0.1:${monitor}/connz?subs=detail&sort=cid`),
    newSchema: () => `bench_${++schemas}`,
  }
}

async function toldBy(url: string): Promise<Told> {
  const told = (await (await fetch(url)).json()) as Record<string, number>
  const of = (name: string): number => told[name] ?? Number.NaN
  return {
    inMessages: of('in_msgs'),
    inBytes: of('in_bytes'),
    outMessages: of('out_msgs'),
    outBytes: of('out_bytes'),
  }
}

async function receivedBy(url: string): Promise<readonly ReadonlyMap<string, number>[]> {
  const { connections } = (await (await fetch(url)).json()) as {
    connections: { subscriptions_list_detail?: { subject: string; msgs: number }[] }[]
  }
  return connections.map(
    ({ subscriptions_list_detail: list = [] }) => new Map(list.map(({ subject, msgs }) => [subject, msgs])),
  )
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
