import { setTimeout as sleep } from 'node:timers/promises'
import type { Running } from '../../src/cli/bench/contender.ts'
import { residentBytes } from '../../src/cli/bench/cpu.ts'
import { answer, documentOf, enter, enterAll } from '../../src/cli/bench/entering.ts'
import { atRate } from '../../src/cli/bench/typist.ts'
import { homeNodeOf } from '../../src/cluster/postgres/cluster/home-node.ts'
import { bucketOf } from '../../src/core/store/buckets.ts'
import { sum, thousands } from '../support/report.ts'
import { keyOf } from '../support/stored.ts'
import { clusterOf, type Deployment, nodeNames } from './deployments.ts'
import { openGroup } from './open-groups.ts'
import { fill } from './opening.ts'
import type { Stores } from './stores.ts'
import { type Usage, usageDuring, usageOf } from './usage.ts'

export interface CostLoad {
  /** Each room has one user who types and one who reads. */
  readonly paces: readonly { readonly rooms: number; readonly perSecond: number }[]
  /** Number of stored documents. Clients join those that the first node owns, which is about half of them. */
  readonly documents: number
  /** Duration of each measurement of writes in seconds. The warm-up before it has the same duration. */
  readonly seconds: number
}

/** The cost of one write or of one join. CPU times are in microseconds, without those of idle nodes. */
export interface UnitCost {
  readonly name: string
  /** CPU time of all nodes. */
  readonly nodes: number
  readonly postgres: number
  /** Memory of all nodes in bytes, for a join; NaN for a write. */
  readonly bytes: number
}

export interface NodeCosts {
  readonly units: readonly UnitCost[]
  /** CPU time of all nodes for an idle connection, in microseconds per second. */
  readonly idleConnection: number
  /** Time in ms from the kill of a node until the other node has written to all of some documents of it. */
  readonly pauseMs: number
}

/** Numbers of the nodes to which the writer and the reader connect. Node 0 owns the document. */
const placements = [
  { name: 'both at the owner', writer: 0, reader: 0 },
  { name: 'writer forwarded', writer: 1, reader: 0 },
  { name: 'both forwarded', writer: 1, reader: 1 },
]

/** Number of documents that the killed node owns and to which the other node writes. */
const writtenAfterKill = 20
const retryMs = 20
/** Time in ms in which nodes do the work that follows the opening of documents. */
const settleMs = 1_000
/** Duration in seconds of a measurement without load. */
const quietSeconds = 4

/** Measures what one write and one join cost in a cluster of two nodes. */
export async function measureNodes(stores: Stores, load: CostLoad): Promise<NodeCosts> {
  const { data, schema } = await fill(stores, load.documents)
  const way = clusterOf(stores, 2)
  // The stored documents have no records yet. The first join writes them.
  const first = await way.start(data, schema)
  await joinAll(first.writing, range(load.documents).map(documentOf))
  await first.stop()
  const deployment = await way.start(data, schema)
  const units: UnitCost[] = []
  for (const pace of load.paces) units.push(...(await writes(deployment, pace, load.seconds)))
  const before = await usageDuring(deployment, quietSeconds)
  const joined = await joins(deployment, range(load.documents).map(documentOf).filter(isOwnedByFirst))
  const after = await usageDuring(deployment, quietSeconds)
  const pauseMs = await pauseAfterKill(deployment)
  await deployment.kill()
  return {
    units: [...units, ...joined.units],
    idleConnection: (perSecond(after, cpuOf) - perSecond(before, cpuOf)) / joined.connections,
    pauseMs,
  }
}

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

const isOwnedByFirst = (document: string): boolean =>
  homeNodeOf(bucketOf(keyOf('bench', document)), nodeNames(2)) === nodeNames(2)[0]

/** Returns names of documents of the first node. */
function ownedNames(prefix: string, count: number): string[] {
  const names: string[] = []
  for (let index = 0; names.length < count; index++)
    if (isOwnedByFirst(`${prefix}-${index}`)) names.push(`${prefix}-${index}`)
  return names
}

const cpuOf = ({ nodes }: Usage): number => sum(nodes)
const postgresOf = ({ postgres }: Usage): number => postgres
const perSecond = (usage: Usage, of: (usage: Usage) => number): number => of(usage) / usage.seconds

/** Returns how much more than `quiet` was used for each of `count` units. */
const more = (usage: Usage, quiet: Usage, of: (usage: Usage) => number, count: number): number =>
  (of(usage) - perSecond(quiet, of) * usage.seconds) / count

async function writes(
  deployment: Deployment,
  pace: CostLoad['paces'][number],
  seconds: number,
): Promise<UnitCost[]> {
  const { nodes } = deployment
  const groups = []
  for (const { name, writer, reader } of placements) {
    const names = ownedNames(`${pace.perSecond}-${writer}-${reader}`, pace.rooms)
    const servers = [nodes[writer], nodes[reader]] as (typeof nodes)[number][]
    groups.push({ name, ...(await openGroup(servers, names)) })
  }
  await sleep(settleMs)
  const quiet = await usageDuring(deployment, quietSeconds)
  const costs: UnitCost[] = []
  for (const { name, typists, watches } of groups) {
    let next = 0
    const stop = atRate(pace.perSecond, (due) => {
      for (let index = 0; index < due; index++) typists[next++ % typists.length]?.type()
    })
    await sleep(seconds * 1000)
    const received = () => sum(watches.map(({ total }) => total))
    const before = received()
    const usage = await usageDuring(deployment, seconds)
    const count = received() - before
    stop()
    await sleep(settleMs)
    if (count === 0) throw new Error(`${name}: nothing has come`)
    costs.push({
      name: `write at ${thousands(pace.perSecond)}/s, ${name}`,
      nodes: more(usage, quiet, cpuOf, count),
      postgres: more(usage, quiet, postgresOf, count),
      bytes: Number.NaN,
    })
  }
  return costs
}

const joinAll = (server: Running, documents: readonly string[]) =>
  enterAll(documents.length, async (index) => {
    const document = documents[index] as string
    const socket = await enter(server, document)
    await answer(server, socket, document)
    socket.onMessage = () => {}
    return socket
  })

/** Lets clients join documents of the first node, and stay. */
async function joins(
  deployment: Deployment,
  documents: readonly string[],
): Promise<{ readonly units: readonly UnitCost[]; readonly connections: number }> {
  const [owner = deployment.writing, other = owner] = deployment.nodes
  const half = Math.floor(documents.length / 2)
  const [some, others] = [documents.slice(0, half), documents.slice(half, 2 * half)]
  const steps = [
    { name: 'join, closed, at the owner', server: owner, of: some },
    { name: 'join, open, at the owner', server: owner, of: some },
    { name: 'join, open, forwarded', server: other, of: some },
    { name: 'join, closed, forwarded', server: other, of: others },
  ]
  const resident = () => sum(deployment.nodes.map(({ pid }) => residentBytes(pid)))
  const units: UnitCost[] = []
  for (const { name, server, of } of steps) {
    const quiet = await usageDuring(deployment, quietSeconds)
    const bytes = resident()
    const usage = await usageOf(deployment, async () => {
      await joinAll(server, of)
      await sleep(settleMs)
    })
    units.push({
      name,
      nodes: more(usage, quiet, cpuOf, half),
      postgres: more(usage, quiet, postgresOf, half),
      bytes: (resident() - bytes) / half,
    })
  }
  return { units, connections: steps.length * half }
}

async function pauseAfterKill({ nodes, writing }: Deployment): Promise<number> {
  const [owner = writing, other = owner] = nodes
  const documents = ownedNames('killed', writtenAfterKill)
  const write = async (documentId: string): Promise<boolean> => {
    const data = {
      organizationId: 'bench',
      documentId,
      editorId: 'main',
      type: 'text',
      data: 'text',
      upsert: true,
    }
    const { url, headers } = other.rest
    const body = JSON.stringify({ data })
    const response = await fetch(`${url}/v2/crdt/update`, { method: 'POST', headers, body })
    await response.arrayBuffer()
    return response.ok
  }
  await Promise.all(documents.map(write))
  const killedAt = performance.now()
  await owner.kill()
  await Promise.all(
    documents.map(async (document) => {
      while (!(await write(document))) await sleep(retryMs)
    }),
  )
  return performance.now() - killedAt
}
