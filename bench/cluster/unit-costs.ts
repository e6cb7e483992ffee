import { setTimeout as sleep } from 'node:timers/promises'
import { type Mover, moveAll } from '../../src/cli/bench/mover.ts'
import { atRate, type KeystrokeTracker } from '../../src/cli/bench/typist.ts'
import { callAll } from '../load/calling.ts'
import { sum } from '../support/report.ts'
import { clusterOf, type Deployment } from './deployments.ts'
import { type OpenGroup, openGroup, openIdle } from './open-groups.ts'
import { fill } from './opening.ts'
import type { Stores } from './stores.ts'
import { type Usage, usageDuring, usageOf } from './usage.ts'

/** Load of one measurement. The nodes form groups of `usersMax` nodes, or one group if there are fewer. */
export interface UnitLoad {
  /**
   * Number of documents without edits that are open on each node, a multiple of `usersMax` and of 2. Each is
   * open on as many nodes as a group has.
   */
  readonly idle: number
  /**
   * Number of documents of each group. A user of its first node edits each document, and a user of each other
   * node reads it.
   */
  readonly edited: number
  /** Number of updates per second of each group. Afterwards, number of cursor moves per second. */
  readonly perSecond: number
  /** Number of REST calls of each kind. */
  readonly calls: number
  /** Duration of each part of the measurement in seconds. The warm-up before it has the same duration. */
  readonly seconds: number
}

/** Costs of one unit of load in a cluster. All CPU times are in microseconds. */
export interface UnitCosts {
  /** CPU time for each update that the node of the writer, the node of each reader, and PostgreSQL need. */
  readonly update: {
    readonly writing: number
    readonly reading: number
    readonly postgres: number
    /** Number of bytes that a reader receives on the websocket. */
    readonly frame: number
  }
  /** CPU time per second for each node without clients. */
  readonly empty: Cpu
  /** Costs of a document that is open on a node, per second. */
  readonly idle: Cpu
  /**
   * Costs of a cursor move: CPU time of the node of its user (`moving`), and of the node of each other user
   * (`showing`).
   */
  readonly cursor: {
    readonly moving: number
    readonly showing: number
    /** Number of bytes that another user receives on the websocket. */
    readonly frame: number
  }
  /** CPU time for each REST call that replaces a small text, and for each page of 100 documents. */
  readonly write: Cpu
  readonly page: Cpu
}

/** CPU time of all nodes, and of PostgreSQL. */
export interface Cpu {
  readonly node: number
  readonly postgres: number
}

/** Number of users of a document, each on a different node, if there are enough nodes. */
export const usersMax = 3
/** Number of callers of REST at the same time. */
const callers = 4
/** Number of documents that REST calls write. It is also the length of a page. */
const texts = 100
/** Maximum time in ms in which nodes do the work that follows a start, and the opening of documents. */
const settleMsMax = 4_000

/** Measures the costs of units of load in a cluster of `nodes` nodes. */
export async function measureUnits(stores: Stores, nodes: number, load: UnitLoad): Promise<UnitCosts> {
  const users = Math.min(usersMax, nodes)
  const groups = nodes / users
  const names = Array.from({ length: groups * load.edited }, (_, index) => `edited-${index}`)
  const filled = await fill(stores, (load.idle * nodes) / users)
  const deployment = await clusterOf(stores, nodes).start(filled.data, filled.schema)
  const during = (): Promise<Usage> => usageDuring(deployment, load.seconds)
  const settleMs = Math.min(settleMsMax, load.seconds * 1000)
  await sleep(settleMs)
  const empty = await during()
  await openIdle(deployment.nodes, load.idle, users)
  const open: OpenGroup[] = []
  for (let group = 0; group < groups; group++) {
    const [from, first] = [group * users, group * load.edited]
    const documents = names.slice(first, first + load.edited)
    open.push(await openGroup(deployment.nodes.slice(from, from + users), documents))
  }
  await sleep(settleMs)

  const watches = open.flatMap((group) => group.watches)
  const stopTyping = atRateOf(open, load.perSecond, ({ typists }, index) => typists[index]?.type())
  await sleep(load.seconds * 1000)
  const [typedBefore, typedBytesBefore] = [totalOf(watches), bytesOf(open)]
  const typing = await during()
  const [received, typedBytes] = [totalOf(watches) - typedBefore, bytesOf(open) - typedBytesBefore]
  const typed = received / (users - 1)
  stopTyping()
  // Now the code of the nodes is compiled, and the opening of the documents has no further effect.
  await sleep(settleMs)
  const idle = await during()

  const movers = open.map((group) => group.movers())
  const stops = movers.map(({ moving }) => moveAll(moving, load.perSecond / moving.length))
  await sleep(load.seconds * 1000)
  const [movedBefore, bytesBefore] = [shownOf(movers), bytesOf(open)]
  const moving = await during()
  const [moved, bytes] = [(shownOf(movers) - movedBefore) / (users - 1), bytesOf(open) - bytesBefore]
  for (const stop of stops) stop()
  await sleep(settleMs)
  const rest = await callRest(deployment, load, idle)
  await deployment.kill()

  /** Returns how much more than without edits was used for each of `count` units. */
  const more = (usage: Usage, of: (usage: Usage) => number, count: number): number =>
    (of(usage) - of(idle) * (usage.seconds / idle.seconds)) / count
  const first = (usage: Usage): number => sum(usage.nodes.filter((_, node) => node % users === 0))
  const others = (usage: Usage): number => sum(usage.nodes) - first(usage)
  const openDocuments = nodes * (load.idle + load.edited)
  /** Returns how much more than without open documents was used for each of them per second. */
  const perOpen = (of: (usage: Usage) => number): number =>
    (of(idle) / idle.seconds - of(empty) / empty.seconds) / openDocuments
  return {
    update: {
      writing: more(typing, first, typed),
      reading: more(typing, others, typed * (users - 1)),
      postgres: more(typing, ({ postgres }) => postgres, typed),
      frame: typedBytes / received,
    },
    empty: {
      node: sum(empty.nodes) / nodes / empty.seconds,
      postgres: empty.postgres / nodes / empty.seconds,
    },
    idle: {
      node: perOpen(({ nodes: used }) => sum(used)),
      postgres: perOpen(({ postgres }) => postgres),
    },
    cursor: {
      moving: more(moving, first, moved),
      showing: more(moving, others, moved * (users - 1)),
      frame: bytes / moved / (users - 1),
    },
    ...rest,
  }
}

const totalOf = (watches: readonly KeystrokeTracker[]): number => sum(watches.map(({ total }) => total))
const bytesOf = (open: readonly OpenGroup[]): number =>
  sum(open.flatMap(({ readers }) => readers.map(({ receivedBytes }) => receivedBytes)))
const shownOf = (movers: readonly { readonly watching: readonly Mover[] }[]): number =>
  sum(movers.flatMap(({ watching }) => watching.map(({ shown }) => shown)))

/** Calls `act` at a constant rate for the documents of each group in turn. */
function atRateOf(
  groups: readonly OpenGroup[],
  perSecond: number,
  act: (group: OpenGroup, index: number) => void,
): () => void {
  let next = 0
  return atRate(groups.length * perSecond, (due) => {
    for (let index = 0; index < due; index++, next++) {
      const group = groups[next % groups.length] as OpenGroup
      act(group, Math.floor(next / groups.length) % group.documents.length)
    }
  })
}

/** Measures REST calls to the first node. The CPU time without calls does not count. */
async function callRest(
  deployment: Deployment,
  { calls, seconds }: UnitLoad,
  idle: Usage,
): Promise<Pick<UnitCosts, 'write' | 'page'>> {
  const target = deployment.writing.rest
  let made = 0
  const write = () => ({
    organizationId: 'bench',
    documentId: `written-${++made % texts}`,
    editorId: 'main',
    type: 'text',
    data: `some words and a number: ${made}`,
    upsert: true,
  })
  const cost = async (path: string, data: () => object): Promise<Cpu> => {
    const callMany = (count: number) =>
      callAll(target, callers, { calls: count, secondsMax: seconds * 2 }, (caller) =>
        caller.post(path, Buffer.from(JSON.stringify({ data: data() }))),
      )
    await callMany(Math.max(texts, calls / 2))
    let count = 0
    const used = await usageOf(deployment, async () => {
      count = (await callMany(calls)).times.length
    })
    const share = used.seconds / idle.seconds
    return {
      node: (sum(used.nodes) - sum(idle.nodes) * share) / count,
      postgres: (used.postgres - idle.postgres * share) / count,
    }
  }
  return {
    write: await cost('/v2/crdt/update', write),
    page: await cost('/v2/organizations/documents/get', () => ({ organizationId: 'bench', pageSize: texts })),
  }
}
