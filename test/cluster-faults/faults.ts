import { eventually, RawClient } from '../support/clients/clients.ts'
import type { Random } from '../support/data/random-doc.ts'
import type { Direction } from '../support/faults/connection-cutting-proxy.ts'
import { signal } from '../support/servers/postgres-process.ts'
import type { TestCluster } from './support/cluster.ts'
import type { Load } from './support/load-report.ts'
import type { ClusterNode } from './support/node.ts'

export interface Scene {
  readonly cluster: TestCluster
  readonly load: Load
  readonly random: Random
  /** The duration of a pause in ms. */
  readonly pauseMs: number
  /** The built package of another version; null is a copy of this build. */
  readonly from: string | null
}

/** A fault under load. Resolves with a description when the fault is over. */
export type Fault = (scene: Scene) => Promise<string>

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

const visitors = 3
/** The promised maximum. */
const presenceMsMax = 5_000
/** Maximum age in ms of messages that are still on their way when a fault begins. */
const onTheWayMs = 2_000

/** Kills the owner of a document with users, or a node that forwards to it. Both own and forward other documents. */
const killed =
  (role: 'owner' | 'proxy'): Fault =>
  async ({ cluster, load, random }) => {
    const owner = await cluster.ownerOf(load.sharedDocumentId)
    const victim = role === 'owner' ? owner : random.pick(cluster.serving.filter((node) => node !== owner))
    const there = await visit(cluster, load, victim)
    const since = performance.now()
    await victim.kill()
    const goneMs = await goneAfter(cluster, load, there, since)
    await victim.start()
    return `${victim.name}; who was there was gone after ${seconds(goneMs)}`
  }

const isBus = `from pg_stat_activity where application_name = 'weft bus'`

/** Ends the connections of all buses, repeatedly. */
const busCut: Fault = async ({ cluster, pauseMs }) => {
  const until = performance.now() + pauseMs
  let cuts = 0
  for (; performance.now() < until; await sleep(100))
    cuts += (await cluster.postgres.sql(`select pg_terminate_backend(pid) ${isBus}`).catch(() => [])).length
  return `${cuts} times in ${seconds(pauseMs)}`
}

const primaryKilled: Fault = async ({ cluster, load }) => {
  const since = performance.now()
  await cluster.postgres.failOver()
  const promotedMs = performance.now() - since
  await load.goesOn()
  const wentOnMs = performance.now() - since
  await cluster.postgres.repair()
  return `promoted after ${seconds(promotedMs)}, written again after ${seconds(wentOnMs)}`
}

const nodeStopped: Fault = async ({ cluster, random, pauseMs }) => {
  const node = random.pick(cluster.serving)
  node.pause()
  await sleep(pauseMs)
  node.resume()
  return `for ${seconds(pauseMs)}`
}

/**
 * Stops the owner of a document for longer than other nodes wait. Messages of its clients and of the database reach the
 * node when it continues, so that it writes for documents that other nodes have taken.
 */
export const ownerStopped =
  (ms: number): Fault =>
  async ({ cluster, load }) => {
    const owner = await cluster.ownerOf(load.sharedDocumentId)
    owner.pause()
    await sleep(ms)
    const next = await cluster.ownerOf(load.sharedDocumentId)
    owner.resume()
    if (next === owner) throw new Error(`nobody has taken the documents of ${owner.name}`)
    return `${owner.name} for ${seconds(ms)}, meanwhile ${next.name} was the owner`
  }

/**
 * Keeps back the bytes between the owner of a document and the databases in one direction. They arrive late, when other
 * nodes have taken the documents.
 */
const partitioned =
  (direction: Direction): Fault =>
  async ({ cluster, load, pauseMs }) => {
    const owner = await cluster.ownerOf(load.sharedDocumentId)
    owner.partition(direction)
    await sleep(pauseMs)
    const next = await cluster.ownerOf(load.sharedDocumentId)
    owner.reconnect()
    return `${owner.name} for ${seconds(pauseMs)}, then ${next.name} was the owner`
  }

const busStopped: Fault = async ({ cluster, random, pauseMs }) => {
  const found = await cluster.postgres.sql(`select pid ${isBus}`).catch(() => [])
  if (found.length === 0) return 'there is no bus at the moment'
  const pid = Number(random.pick(found).pid)
  signal(pid, 'SIGSTOP')
  await sleep(pauseMs)
  signal(pid, 'SIGCONT')
  return `one of three for ${seconds(pauseMs)}`
}

const primaryStopped: Fault = async ({ cluster, pauseMs }) => {
  cluster.postgres.primary.pause()
  await sleep(pauseMs)
  cluster.postgres.primary.resume()
  return `for ${seconds(pauseMs)}`
}

/** Stops the database for `ms`. No client can write or read meanwhile, edits wait, and no node may end. */
export const databaseAway =
  (ms: number): Fault =>
  async ({ cluster, load }) => {
    await cluster.postgres.primary.kill()
    await sleep(onTheWayMs)
    const before = load.told
    await sleep(ms - onTheWayMs)
    const after = load.told
    const ended = cluster.nodes.filter(({ runs }) => !runs)
    await cluster.postgres.primary.start()
    if (ended.length > 0) throw new Error(`${ended.map(({ name }) => name).join(', ')} ended without it`)
    if (JSON.stringify(after) !== JSON.stringify(before))
      throw new Error(`told while it was away: ${JSON.stringify({ before, after })}`)
    return `for ${seconds(ms)}, in which nothing was acknowledged or shown`
  }

/** Faults by the name of their step. */
export const faults = {
  'owner-killed': killed('owner'),
  'proxy-killed': killed('proxy'),
  'bus-cut': busCut,
  'primary-killed': primaryKilled,
  'cut-to-database': partitioned('to database'),
  'cut-from-database': partitioned('from database'),
  'bus-stopped': busStopped,
  'primary-stopped': primaryStopped,
} satisfies Record<string, Fault>
export type FaultName = keyof typeof faults

const nodeRestarted: Fault = async ({ cluster, random, pauseMs }) => {
  const victim = random.pick(cluster.serving)
  await victim.kill()
  await sleep(random.below(pauseMs))
  await victim.start()
  return 'node'
}

const kinds: readonly (readonly Fault[])[] = [
  [nodeRestarted, nodeStopped, partitioned('to database'), partitioned('from database')],
  [busCut, busStopped],
  [primaryKilled, primaryStopped],
]

/**
 * Causes one or several faults at a time, repeatedly.
 * @param ms until the last faults begin
 */
export const manyThings =
  (ms: number): Fault =>
  async (scene) => {
    const { random, load } = scene
    const until = performance.now() + ms
    let rounds = 0
    let happened = 0
    for (; performance.now() < until; rounds++) {
      const chosen = kinds.filter(() => random.below(2) === 0).map((kind) => random.pick(kind))
      happened += chosen.length
      const pauseMs = 1_000 + random.below(scene.pauseMs)
      await Promise.all(chosen.map((fault) => fault({ ...scene, pauseMs })))
      await load.goesOn()
    }
    return `${happened} things in ${rounds} rounds`
  }

interface Visitor {
  readonly clientId: number
  readonly userId: string
}

/** Connects users at one node, visible to all clients, who do not return. */
async function visit(cluster: TestCluster, load: Load, node: ClusterNode): Promise<readonly Visitor[]> {
  const there: Visitor[] = []
  for (let number = 1; number <= visitors; number++) {
    const userId = `visitor-${number}`
    const token = await cluster.token(userId)
    const url = `${node.wsUrl}/sync/acme/${load.sharedDocumentId}/main?token=${token}`
    const client = await RawClient.connect(url)
    const clientId = 1_000_000 + number
    client.sendAwareness(clientId, 1, { user: { name: userId } })
    there.push({ clientId, userId })
  }
  await eventually(
    async () => there.every((visitor) => watchers(load).every((seen) => seen.has(visitor.clientId))),
    () => 'not everybody is shown who is at another node',
  )
  return there
}

const watchers = (load: Load): readonly ReadonlySet<number>[] =>
  load.people.filter(({ documentId }) => documentId === load.sharedDocumentId).map(({ seen }) => seen)

/**
 * Resolves with the time since `since` in ms after which no client is shown any of the users, by websocket or
 * REST. While the document has no owner, calls fail.
 * @throws if the users are shown later than promised
 */
async function goneAfter(
  cluster: TestCluster,
  load: Load,
  gone: readonly Visitor[],
  since: number,
): Promise<number> {
  const address = { organizationId: 'acme', documentId: load.sharedDocumentId }
  await eventually(async () => {
    const isLate = performance.now() - since > presenceMsMax
    const answers = await Promise.all(cluster.serving.map((node) => node.post('/v2/presence/get', address)))
    const told = JSON.stringify(answers.map(({ body }) => body))
    const isShown =
      watchers(load).some((seen) => gone.some(({ clientId }) => seen.has(clientId))) ||
      gone.some(({ userId }) => told.includes(`"${userId}"`))
    if (isShown && isLate) throw new Error('they are still shown')
    return !isShown && answers.every(({ status }) => status === 200)
  })
  return performance.now() - since
}
