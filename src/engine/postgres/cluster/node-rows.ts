import { type DatabaseSession, statement } from '../connection/database-session.ts'

/** A node is dead when its last heartbeat is this old, by the clock of the database, in ms. */
export const deadMs = 4_000

/** Name of the lease that a single server holds on a schema, or that all nodes of a cluster hold together. */
export const schemaLease = 'node'
/**
 * Holder of the lease for a cluster. A single server, also one of an older version, finds the schema in use.
 */
export const clusterHolder = 'cluster'
/** Duration of the lease after a heartbeat. It exceeds the permission to write that the heartbeat gives. */
const leaseMs = 2 * deadMs
const renewedBelowMs = 1.5 * deadMs

/** `draining`: the node is alive, but it must not be a home node. */
export type NodeState = 'serving' | 'draining'

export interface NodeIdentity {
  readonly id: string
  /** Unique for one process: a later one may have the same id. */
  readonly incarnation: string
}

export interface ClusterNode {
  readonly id: string
  readonly incarnation: string
  readonly state: NodeState
  /** Time of its last heartbeat, in ms of the database's clock. */
  readonly heartbeatAt: number
  readonly isAlive: boolean
}

/** Result of a heartbeat. */
export interface HeartbeatResult {
  /** False while a single server has the schema. */
  readonly isOurs: boolean
  /** False while another process is alive under this id: then this one is not in the list. */
  readonly isListed: boolean
  /** Epoch milliseconds by the database's clock. */
  readonly now: number
  /** The other nodes, including those that died recently, without those that have left. */
  readonly others: readonly ClusterNode[]
  /** Changes when the conflicting holder shows that it is alive. */
  readonly sign: string
}

/**
 * Returns the time from a heartbeat until the first live node will be dead without a further heartbeat, in
 * ms.
 */
export const firstDeadInMs = ({ others, now }: Pick<HeartbeatResult, 'others' | 'now'>): number =>
  Math.min(...others.filter(({ isAlive }) => isAlive).map(({ heartbeatAt }) => heartbeatAt + deadMs - now))

const ms = (parameter: string) => `${parameter} * interval '1 ms'`

/**
 * One statement that renews the lease and the node's own row, and returns the live nodes. The lease is
 * written rarely, because all nodes would wait for each other there. ($1 id, $2 incarnation, $3 state, $4
 * dead, $5 lease, $6 renewed below)
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
     insert into node as n (id, incarnation, state, heard_at)
     select $1, $2, $3, clock_timestamp() from ours where held
     on conflict (id) do update
     set incarnation = excluded.incarnation, state = excluded.state, heard_at = excluded.heard_at
     where n.incarnation = excluded.incarnation or n.heard_at <= clock_timestamp() - ${ms('$4')}
     returning 1
   )
   select (select held from ours) as ours, exists (select from listed) as listed,
     (extract(epoch from clock_timestamp()) * 1000)::float8 as now,
     (select coalesce(json_agg(json_build_object(
        'id', id, 'incarnation', incarnation, 'state', state, 'heartbeatAt', extract(epoch from heard_at) * 1000,
        'isAlive', heard_at > clock_timestamp() - ${ms('$4')}) order by id), '[]')
      from node where id <> $1) as others,
     concat((select until from lease where name = '${schemaLease}' and holder <> '${clusterHolder}'), ' ',
       (select heard_at from node where id = $1)) as sign`,
  // A later answer is useless: a node without a heartbeat for this time is dead.
  deadMs,
)
const leave = statement('leave', 'delete from node where id = $1 and incarnation = $2')
/** Nodes that have been dead for long are not needed. */
const deleteDeadNodes = statement(
  'moveToDeadLetters-nodes',
  `delete from node where heard_at < clock_timestamp() - interval '1 min'`,
)
const readCluster = statement<{ value: string }>(
  'read-cluster',
  `select value from meta where name = 'cluster'`,
)

export async function writeHeartbeat(
  session: DatabaseSession,
  node: NodeIdentity,
  state: NodeState,
): Promise<HeartbeatResult> {
  const values = [node.id, node.incarnation, state, deadMs, leaseMs, renewedBelowMs]
  const found = await ask(session, values)
  // The statement may have waited for another node that renewed the lease, and have read the state before
  // that.
  return found.isOurs ? found : ask(session, values)
}

async function ask(session: DatabaseSession, values: readonly unknown[]): Promise<HeartbeatResult> {
  const [found] = await session.rows(beatOnce, values)
  if (found === undefined) throw new Error('a heartbeat without an answer')
  const { ours, listed, now, others, sign } = found
  return { isOurs: ours, isListed: listed, now, others, sign }
}

export async function removeNode(session: DatabaseSession, { id, incarnation }: NodeIdentity): Promise<void> {
  await session.rows(leave, [id, incarnation])
}

export async function removeDeadNodes(session: DatabaseSession): Promise<void> {
  await session.rows(deleteDeadNodes, [])
}

/** Returns an id that is unique for this schema, independent of its name. */
export async function readClusterId(session: DatabaseSession): Promise<string> {
  const [row] = await session.rows(readCluster, [])
  return row?.value ?? 'unknown'
}
