import { type DatabaseSession, statement } from '../connection/database-session.ts'

/**
 * Time in ms after which a node without a heartbeat counts as dead, measured by the clock of the database.
 */
export const deadMs = 4_000

/**
 * Name of the lease on the schema. A single server is its only holder. The nodes of a cluster hold the lease
 * together. Servers of format 1 use the lease `node`, which they can no longer get (`termTables`).
 */
export const schemaLease = 'schema'
/**
 * Name of the holder of the schema lease if a cluster holds it. A single server that finds this holder knows
 * that the schema is in use.
 */
export const clusterHolder = 'cluster'
/**
 * Duration of the schema lease after a heartbeat, in ms. It is longer than the time for which a heartbeat
 * permits writes (`deadMs`).
 */
const leaseMs = 2 * deadMs
const renewedBelowMs = 1.5 * deadMs

/**
 * State of a node. `starting`: it serves no calls yet. `draining`: it is alive, but must not own documents. A node in
 * these two states owns documents only if no node is `serving`.
 */
export type NodeState = 'starting' | 'serving' | 'draining'

export interface NodeIdentity {
  readonly id: string
  /** Unique id of the process. In contrast, a later process may have the same `id`. */
  readonly incarnation: string
}

/** The properties that a node announces to the others. */
export interface NodeReport {
  readonly state: NodeState
  /** Base URL at which the other nodes reach the node; null if it serves no calls. */
  readonly url: string | null
}

export interface ClusterNode extends NodeReport {
  readonly id: string
  readonly incarnation: string
  /** Time of the last heartbeat in ms, by the clock of the database. */
  readonly heartbeatAt: number
  readonly isAlive: boolean
}

export interface HeartbeatResult {
  /** False if a single server holds the lease on the schema. */
  readonly isOurs: boolean
  /** False if another live process has the same id. This process is then not in the list of nodes. */
  readonly isListed: boolean
  /** Time of the heartbeat in epoch milliseconds, by the clock of the database. */
  readonly now: number
  /** The other nodes. They include nodes that died recently, but not nodes that have left the cluster. */
  readonly others: readonly ClusterNode[]
  /**
   * Text that changes each time the process that holds the schema or the id renews its lease or sends a
   * heartbeat.
   */
  readonly sign: string
}

/**
 * Returns the time in ms from a heartbeat until the first of the live nodes counts as dead, if no live node
 * sends another heartbeat.
 */
export const firstDeadInMs = ({ others, now }: Pick<HeartbeatResult, 'others' | 'now'>): number =>
  Math.min(...others.filter(({ isAlive }) => isAlive).map(({ heartbeatAt }) => heartbeatAt + deadMs - now))

const ms = (parameter: string) => `${parameter} * interval '1 ms'`

/**
 * Statement that renews the schema lease and the row of this node, and returns the other nodes. The lease is
 * renewed only when little time remains, because all nodes of the cluster would wait for each other at its
 * row. Parameters: $1 id, $2 incarnation, $3 state, $4 `deadMs`, $5 `leaseMs`, $6 `renewedBelowMs`, $7 URL.
 */
const beatOnce = statement<{
  ours: boolean
  listed: boolean
  now: number
  others: readonly ClusterNode[]
  sign: string
}>(
  'beat',
  `with renewed as (
     insert into lease as l (name, holder, until)
     values ('${schemaLease}', '${clusterHolder}', clock_timestamp() + ${ms('$5')})
     on conflict (name) do update set holder = excluded.holder, until = excluded.until
     where l.until <= clock_timestamp()
       or (l.holder = excluded.holder and l.until < clock_timestamp() + ${ms('$6')})
     returning 1
   ), ours as (
     select exists (select from renewed) or exists (
       select from lease
       where name = '${schemaLease}' and holder = '${clusterHolder}' and until > clock_timestamp()
     ) as held
   ), listed as (
     insert into node as n (id, incarnation, state, heard_at, url)
     select $1, $2, $3, clock_timestamp(), $7 from ours where held
     on conflict (id) do update
     set incarnation = excluded.incarnation, state = excluded.state, heard_at = excluded.heard_at, url = excluded.url
     where n.incarnation = excluded.incarnation or n.heard_at <= clock_timestamp() - ${ms('$4')}
     returning 1
   )
   select (select held from ours) as ours, exists (select from listed) as listed,
     (extract(epoch from clock_timestamp()) * 1000)::float8 as now,
     (select coalesce(json_agg(json_build_object(
        'id', id, 'incarnation', incarnation, 'state', state, 'url', url, 'heartbeatAt', extract(epoch from heard_at) * 1000,
        'isAlive', heard_at > clock_timestamp() - ${ms('$4')}) order by id), '[]')
      from node where id <> $1) as others,
     concat((select until from lease where name = '${schemaLease}' and holder <> '${clusterHolder}'), ' ',
       (select heard_at from node where id = $1)) as sign`,
  // A later answer would be useless, because a node that had no heartbeat for this time is dead.
  deadMs,
)
/**
 * Time in ms after which the schema lease ends when the last node has left. A node that has joined at the same moment
 * renews the lease before that, because it sends a heartbeat once a second.
 */
const lastMs = 1_500

/**
 * Statement that deletes the row of a node. If no other node is alive, shortens the schema lease. Parameters: $1 id, $2
 * incarnation, $3 `deadMs`, $4 `lastMs`.
 */
const leave = statement(
  'leave',
  `with gone as (delete from node where id = $1 and incarnation = $2)
   update lease set until = least(until, clock_timestamp() + ${ms('$4')})
   where name = '${schemaLease}' and holder = '${clusterHolder}'
     and not exists (select from node where id <> $1 and heard_at > clock_timestamp() - ${ms('$3')})`,
)
/** Statement that deletes the rows of nodes that have been dead for more than 1 minute. */
const deleteDeadNodes = statement(
  'moveToDeadLetters-nodes',
  `delete from node where heard_at < clock_timestamp() - interval '1 min'`,
)

export async function writeHeartbeat(
  session: DatabaseSession,
  node: NodeIdentity,
  { state, url }: NodeReport,
): Promise<HeartbeatResult> {
  const values = [node.id, node.incarnation, state, deadMs, leaseMs, renewedBelowMs, url]
  const found = await ask(session, values)
  // The first statement may have waited for another node that was renewing the lease. It may then have read
  // the state before that renewal. The second statement reads the new state.
  return found.isOurs ? found : ask(session, values)
}

async function ask(session: DatabaseSession, values: readonly unknown[]): Promise<HeartbeatResult> {
  const [found] = await session.rows(beatOnce, values)
  if (found === undefined) throw new Error('a heartbeat without an answer')
  const { ours, listed, now, others, sign } = found
  return { isOurs: ours, isListed: listed, now, others, sign }
}

export async function removeNode(session: DatabaseSession, { id, incarnation }: NodeIdentity): Promise<void> {
  await session.rows(leave, [id, incarnation, deadMs, lastMs])
}

export async function removeDeadNodes(session: DatabaseSession): Promise<void> {
  await session.rows(deleteDeadNodes, [])
}
