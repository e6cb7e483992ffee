import { type Clock, systemClock } from '../../core/base/clock.ts'
import type { Log } from '../../core/base/log.ts'
import type { Engine, Health, StoredUnder } from '../../core/store/engine.ts'
import { keyRange } from '../../core/store/key-encoding.ts'
import { closedMessage, OpenCalls } from '../../core/store/open-calls.ts'
import { formatVersion } from '../../core/store/pairs/record-codec.ts'
import { PolledChanges } from '../../core/store/polled-changes.ts'
import { QueueLeaseStore } from '../../core/store/renewed-lease.ts'
import { LocalLeaseStore, noForeignChanges } from '../../core/store/single-node.ts'
import { dumpPostgres } from './backup/dump.ts'
import { PostgresBlobs } from './blobs.ts'
import { DatabaseClock, localTime } from './cluster/database-clock.ts'
import { type ClusterOptions, joinCluster, openExclusive } from './cluster/schema-access.ts'
import { type DatabaseOptions, PostgresDatabase } from './connection/database.ts'
import { type DatabaseSession, statement } from './connection/database-session.ts'
import { checkSchemaName, checkServer, postgresOpenError } from './connection/open.ts'
import { PendingBytes, pendingBytesMaxDefault } from './connection/pending-bytes.ts'
import type { Statement } from './connection/statement-batch.ts'
import { PostgresQueue } from './jobs/queue.ts'
import { PostgresFences } from './kv/fences.ts'
import { PostgresKv } from './kv/kv.ts'
import { KvCommitQueue } from './kv/kv-commits.ts'
import { valueReadsIn } from './kv/value-reads.ts'
import { PostgresLog } from './log/log.ts'
import { ensureSchema } from './schema/format.ts'
import { refuseUnfinishedRestore } from './schema/restore-marker.ts'
import { partitionsDefault } from './schema/tables.ts'

interface Sum {
  readonly bytes: number
}

const ofLogs = (table: 'entry' | 'snapshot') =>
  statement<Sum>(
    `size-${table}`,
    `select coalesce(sum(octet_length(t.bytes)), 0)::float8 as bytes
     from document d join ${table} t on t.doc = d.id where d.key >= $1 and d.key < $2`,
  )
const ofEntries = ofLogs('entry')
const ofSnapshots = ofLogs('snapshot')
const ofBlobs = statement<Sum>(
  'size-blobs',
  `select coalesce(sum(octet_length(key) + octet_length(bytes)), 0)::float8 as bytes
   from blob where key >= $1 and key < $2`,
)
const ofParts = statement<Sum>(
  'size-kv',
  `select coalesce(sum(octet_length(key) + octet_length(value)), 0)::float8 as bytes
   from kv where part >= $1 and part < $2`,
)

/**
 * Implements `Engine.storedBytes` for PostgreSQL. Counts the bytes of the stored data itself, without the
 * overhead of tables and indexes.
 */
function measurePostgresBytes(
  database: PostgresDatabase,
  { logs, blobs, parts }: StoredUnder,
): Promise<number> {
  const sums = [
    ...logs.flatMap((prefix) => [ofEntries, ofSnapshots].map((sum) => ({ sum, prefix }))),
    ...blobs.map((prefix) => ({ sum: ofBlobs, prefix })),
    ...parts.map((prefix) => ({ sum: ofParts, prefix })),
  ]
  return database.read(async (session) => {
    let bytes = 0
    for (const { sum, prefix } of sums) bytes += await sumOf(session, sum, keyRange(noSpace, { prefix }))
    return bytes
  })
}

const noSpace = Buffer.alloc(0)

async function sumOf(
  session: DatabaseSession,
  sum: Statement<Sum>,
  { gte, lt }: { readonly gte: Buffer; readonly lt: Buffer },
): Promise<number> {
  const [row] = await session.rows(sum, [gte, lt])
  return row?.bytes ?? 0
}

export interface PostgresEngineOptions {
  /**
   * URL of the form `postgres://user:password@host:port/database`. Parameters of the URL set TLS and other
   * options.
   */
  readonly url: string
  /**
   * Schema that contains all tables. It is created if it is missing. The name may contain only lower-case
   * letters, digits and `_`. Default `weft`.
   */
  readonly schema?: string
  /**
   * Whether an acknowledged write survives a power failure (`disk`, the default) or only the end of this
   * process (`process`).
   */
  readonly durability?: 'disk' | 'process'
  readonly clock?: Clock
  readonly log?: Log
  /** Options of the cluster that shares the schema. Without them, this process is a single node. */
  readonly nodes?: ClusterOptions
  /** Maximum number of connections in use at the same time. Default 10. */
  readonly poolSize?: number
  /** Maximum duration of one SQL statement, in ms. Default 30,000. */
  readonly statementTimeoutMs?: number
  /**
   * Time in ms for which a call waits for an unavailable database. After that, it fails with
   * StoreUnavailableError. Default 30,000.
   */
  readonly holdMs?: number
  /**
   * Maximum number of accepted bytes that are not yet durable. When it is reached, further writes are
   * rejected with StoreUnavailableError. Default 64 MB.
   */
  readonly pendingBytesMax?: number
  /** Whether a schema with an interrupted restore is opened. Default `refuse`. */
  readonly restoring?: 'open' | 'refuse'
  /** Number of partitions of each partitioned table. Used only when the tables are created. Default 16. */
  readonly partitions?: number
}

/** Opens the engine that stores its data in PostgreSQL. @throws EngineOpenError */
export async function openPostgresEngine(options: PostgresEngineOptions): Promise<Engine> {
  const { schema = 'weft', clock: own = systemClock, nodes } = options
  checkSchemaName(schema)
  const shared = nodes === undefined || nodes.time === 'own' ? null : new DatabaseClock(own)
  const clock = shared ?? localTime(own)
  const { database, access } = await opened(options, { schema, shared })
  const gate = new OpenCalls()
  const pending = new PendingBytes(options.pendingBytesMax ?? pendingBytesMaxDefault)
  const values = valueReadsIn(database)
  const fences = new PostgresFences({ gate, values, schema })
  const commits = new KvCommitQueue(database, { clock, schema, fences })
  const kv = new PostgresKv({ gate, database, pending, commits, values })
  const queue = new PostgresQueue({ gate, database, clock })
  const polled = nodes === undefined ? null : new PolledChanges(kv, clock, options.log)
  let closing: Promise<void> | null = null
  const close = async () => {
    polled?.end()
    const idle = gate.close()
    database.endHolding()
    await idle
    await access.end()
    await database.close()
  }
  return {
    log: new PostgresLog({ gate, database, pending, clock, fences, terms: access.terms }),
    fences,
    blobs: new PostgresBlobs({ gate, database, pending }),
    kv,
    foreignChanges: polled ?? noForeignChanges,
    queue,
    leases: nodes === undefined ? new LocalLeaseStore() : new QueueLeaseStore(kv, queue, clock),
    bus: access.bus,
    cluster: access.cluster,
    health: (): Health => (gate.isOpen ? database.health() : { ok: false, reason: closedMessage }),
    pendingBytes: () => pending.bytes,
    storedBytes: (under) => gate.run(() => measurePostgresBytes(database, under)),
    dump: () => ({
      format: formatVersion,
      pages: dumpPostgres(
        gate,
        () => new PostgresDatabase({ ...databaseOptions(options, schema), poolSize: 1 }),
      ),
    }),
    close: () => (closing ??= close()),
  }
}

interface SharedSchema {
  readonly schema: string
  /** The clock of the database; null if the process uses its own clock. */
  readonly shared: DatabaseClock | null
}

async function opened(options: PostgresEngineOptions, { schema, shared }: SharedSchema) {
  const { log, nodes, partitions = partitionsDefault } = options
  const database = new PostgresDatabase(databaseOptions(options, schema))
  try {
    for (const { found: warning } of await checkServer(database, options.url))
      log?.warn({ warning }, 'the database may lose acknowledged changes')
    await ensureSchema(database, { schema, partitions, log })
    if (options.restoring !== 'open') await refuseUnfinishedRestore(database, schema)
    const access =
      nodes === undefined
        ? await openExclusive(database, { schema, log })
        : await joinCluster(database, { schema, log, shared }, nodes)
    return { database, access }
  } catch (error) {
    await database.close()
    throw postgresOpenError(error)
  }
}

const databaseOptions = (options: PostgresEngineOptions, schema: string): DatabaseOptions => ({
  url: options.url,
  schema,
  poolSize: options.poolSize ?? 10,
  statementTimeoutMs: options.statementTimeoutMs,
  holdMs: options.holdMs ?? 30_000,
  durability: options.durability ?? 'disk',
  log: options.log,
})
