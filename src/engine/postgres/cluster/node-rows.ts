import { type DatabaseSession, statement } from '../connection/database-session.ts'

/** A node is dead when it has not been heard of for so long, by the clock of the database, in ms. */
export const deadMs = 4_000

/** Name of the lease that a server has on a schema alone, or that all nodes of a cluster have together. */
export const schemaLease = 'node'
/** Who holds it then. A server alone, of an older version too, finds the schema in use. */
export const clusterHolder = 'cluster'
/** After a heartbeat it lasts longer than the right to write that comes with it. */
const leaseMs = 2 * deadMs
const renewedBelowMs = 1.5 * deadMs

/** `draining`: still alive, but nothing is to be at home there. */
export type NodeState = 'serving' | 'draining'

export interface NodeIdentity {
  readonly id: string
  /** Of one process: another one may have the same id later. */
  readonly incarnation: string
}

export interface ClusterNode {
  readonly id: string
  readonly incarnation: string
  readonly state: NodeState
  /** Of its last heartbeat, in ms of the database's clock. */
  readonly heardAt: number
  readonly isAlive: boolean
}

/** What a heartbeat has found. */
export interface HeartbeatResult {
  /** False while a server alone has the schema. */
  readonly isOurs: boolean
  /** False while another process lives under this id: then this one is not in the list. */
  readonly isListed: boolean
  /** Epoch milliseconds by the database's clock. */
  readonly now: number
  /** Without this one. Who has left is not among them, who has died lately is. */
  readonly others: readonly ClusterNode[]
  /** Changes when who is in the way shows that he is alive. */
  readonly sign: string
}

/** How long after a heartbeat the first of those that are alive will be dead unless it is heard of, in ms. */
export const firstDeadInMs = ({ others, now }: Pick<HeartbeatResult, 'others' | 'now'>): number =>
  Math.min(...others.filter(({ isAlive }) => isAlive).map(({ heardAt }) => heardAt + deadMs - now))

const ms = (parameter: string) => `${parameter} * interval '1 ms'`

/**
 * One statement: renews the lease and the own row, and tells who is alive. The lease is written rarely: all nodes would
 * wait for each other there. ($1 id, $2 incarnation, $3 state, $4 dead, $5 lease, $6 renewed below)
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
        'id', id, 'incarnation', incarnation, 'state', state, 'heardAt', extract(epoch from heard_at) * 1000,
        'isAlive', heard_at > clock_timestamp() - ${ms('$4')}) order by id), '[]')
      from node where id <> $1) as others,
     concat((select until from lease where name = '${schemaLease}' and holder <> '${clusterHolder}'), ' ',
       (select heard_at from node where id = $1)) as sign`,
  // Later it says nothing any more: who is not heard of for so long is dead.
  deadMs,
)
const leave = statement('leave', 'delete from node where id = $1 and incarnation = $2')
/** Who has been dead for long is of no interest to anybody. */
const deleteDeadNodes = statement(
  'bury-nodes',
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
  // It may have waited for another node that renewed the lease, and have looked at what was there before.
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

/** An id that no other schema has, whatever its name. */
export async function readClusterId(session: DatabaseSession): Promise<string> {
  const [row] = await session.rows(readCluster, [])
  return row?.value ?? 'unknown'
}
