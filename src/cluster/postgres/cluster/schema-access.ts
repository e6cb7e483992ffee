import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Log } from '../../../core/base/log.ts'
import type { ClusterOptions } from '../../../core/store/cluster-bus.ts'
import type { Bus, Cluster } from '../../../core/store/engine.ts'
import { LocalBus, SingleNode } from '../../../core/store/single-node.ts'
import type { PostgresDatabase } from '../connection/database.ts'
import { ClusterMembership } from './cluster-membership.ts'
import type { DatabaseClock } from './database-clock.ts'
import { readClusterId } from './node-rows.ts'
import { SchemaLease } from './schema-lease.ts'
import type { OwnTerms } from './term-rows.ts'

/**
 * Generates a unique name for a node that has no configured name. The generated name contains the host name.
 */
const newNodeName = (): string =>
  `${hostname()
    .replace(/[^A-Za-z0-9.-]/g, '-')
    .slice(0, 100)}-${randomBytes(4).toString('hex')}`

/** The right of this process to use a schema: exclusively, or together with the other nodes of a cluster. */
interface SchemaAccess {
  readonly bus: Bus
  readonly cluster: Cluster
  readonly terms: OwnTerms
  /** Ends the right. Afterwards, the process must not write to the schema. */
  end(): Promise<void>
}

interface Given {
  readonly schema: string
  readonly log: Log | undefined
}

/** Opens the schema for this process only. @throws EngineOpenError if other processes use the schema */
export async function openExclusive(
  database: PostgresDatabase,
  { schema, log }: Given,
): Promise<SchemaAccess> {
  const lease = await SchemaLease.take(database, { schema, log })
  database.guard(lease)
  return { bus: new LocalBus(), cluster: new SingleNode(), terms: null, end: () => lease.give() }
}

/**
 * Makes this process a node of the cluster that uses the schema.
 * @throws EngineOpenError if a single server uses the schema, or if the bus rejects the client
 */
export async function joinCluster(
  database: PostgresDatabase,
  { schema, log, shared }: Given & { readonly shared: DatabaseClock | null },
  { name = newNodeName(), openBus }: ClusterOptions,
): Promise<SchemaAccess> {
  // Adds the name of the node to all later log lines of this process, so that the logs of several nodes can
  // be distinguished.
  log?.setBindings({ node: name })
  const cluster = await ClusterMembership.join(database, { schema, id: name, clock: shared, log })
  database.guard(cluster)
  try {
    const id = await database.read(readClusterId)
    const bus = await openBus({ prefix: `weft.${schema}.${id}`, node: name })
    cluster.connect(bus)
    return { bus, cluster, terms: cluster, end: () => cluster.leave().then(() => bus.close()) }
  } catch (error) {
    await cluster.leave()
    throw error
  }
}
