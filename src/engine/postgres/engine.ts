import { type Clock, systemClock } from '../../clock.ts'
import type { Log } from '../../log.ts'
import type { Engine, Health } from '../engine.ts'
import { closedMessage, Gate } from '../gate.ts'
import type { NodesOptions } from '../shared-bus.ts'
import { PostgresBlobs } from './blobs.ts'
import { Commits } from './commits.ts'
import { Database, type DatabaseOptions } from './database.ts'
import { DatabaseClock, ownTime, type StoreClock } from './database-clock.ts'
import { settleFormat } from './format.ts'
import { refuseUnfinishedImport } from './import-mark.ts'
import { PostgresKv } from './kv.ts'
import { PostgresLog } from './log.ts'
import { checkSchemaName, checkServer, openError } from './open.ts'
import { Pending, pendingBytesMaxDefault } from './pending.ts'
import { PostgresQueue } from './queue.ts'
import { partitionsDefault } from './schema.ts'
import { joinNodes, serveAlone } from './tenure.ts'

export interface PostgresEngineOptions {
  /** `postgres://user:password@host:port/database`; TLS and more as parameters. */
  readonly url: string
  /** Where all tables are; made if it is not there. Small letters, digits and `_`. Default `weft`. */
  readonly schema?: string
  /** What an acknowledged write survives: loss of power (`disk`, the default), or the end of this process. */
  readonly durability?: 'disk' | 'process'
  readonly clock?: Clock
  readonly log?: Log
  /** Servers that share the schema. Without it there is one. */
  readonly nodes?: NodesOptions
  /** Connections that are used at once. Default 10. */
  readonly poolSize?: number
  /** How long one statement may take, in ms. Default 30 s. */
  readonly statementTimeoutMs?: number
  /** How long making a connection may take, in ms. Default 5 s. */
  readonly connectTimeoutMs?: number
  /** How long calls wait for a database that is away, in ms, before StoreUnavailable. Default 30 s. */
  readonly holdMs?: number
  /** Accepted but not yet durable bytes beyond which writes are refused with StoreUnavailable. Default 64 MB. */
  readonly pendingBytesMax?: number
  /** Whether a schema is opened into which an import was interrupted. Default `refuse`. */
  readonly importing?: 'open' | 'refuse'
  /** Partitions of the tables when they are made; later it is what it was. Default 16. */
  readonly partitions?: number
}

/** The engine over PostgreSQL. @throws EngineOpenError */
export async function openPostgresEngine(options: PostgresEngineOptions): Promise<Engine> {
  const { schema = 'weft', clock: own = systemClock, nodes } = options
  checkSchemaName(schema)
  const shared = nodes === undefined || nodes.time === 'own' ? null : new DatabaseClock(own)
  const clock = shared ?? ownTime(own)
  const { database, tenure } = await opened(options, { schema, clock, shared })
  const gate = new Gate()
  const pending = new Pending(options.pendingBytesMax ?? pendingBytesMaxDefault)
  const commits = new Commits(database, { clock, schema })
  let closing: Promise<void> | null = null
  const close = async () => {
    const idle = gate.close()
    database.endHolding()
    await idle
    await tenure.end()
    await database.close()
  }
  return {
    log: new PostgresLog({ gate, database, pending, clock }),
    blobs: new PostgresBlobs({ gate, database, pending }),
    kv: new PostgresKv({ gate, database, pending, commits }),
    queue: new PostgresQueue({ gate, database, clock }),
    bus: tenure.bus,
    cluster: tenure.cluster,
    health: (): Health => (gate.isOpen ? database.health() : { ok: false, reason: closedMessage }),
    pendingBytes: () => pending.bytes,
    dump: () => null,
    close: () => (closing ??= close()),
  }
}

interface Time {
  readonly schema: string
  readonly clock: StoreClock
  /** The same one, where it is the database's. */
  readonly shared: DatabaseClock | null
}

async function opened(options: PostgresEngineOptions, { schema, clock, shared }: Time) {
  const { log, nodes, partitions = partitionsDefault } = options
  const database = new Database(databaseOptions(options, schema))
  try {
    for (const { found: warning } of await checkServer(database, options.url))
      log?.warn({ warning }, 'the database')
    await settleFormat(database, { schema, partitions, log })
    if (options.importing !== 'open') await refuseUnfinishedImport(database, schema)
    const tenure =
      nodes === undefined
        ? await serveAlone(database, { schema, log, clock })
        : await joinNodes(database, { schema, log, clock, shared }, nodes)
    return { database, tenure }
  } catch (error) {
    await database.close()
    throw openError(error)
  }
}

const databaseOptions = (options: PostgresEngineOptions, schema: string): DatabaseOptions => ({
  url: options.url,
  schema,
  poolSize: options.poolSize ?? 10,
  statementTimeoutMs: options.statementTimeoutMs ?? 30_000,
  connectTimeoutMs: options.connectTimeoutMs ?? 5_000,
  holdMs: options.holdMs ?? 30_000,
  durability: options.durability ?? 'disk',
  log: options.log,
})
