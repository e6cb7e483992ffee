import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backupOffline, writeBackup } from '../../src/capabilities/backups/storage/backup.ts'
import { restore } from '../../src/capabilities/backups/storage/restore.ts'
import { systemClock } from '../../src/core/base/clock.ts'
import {
  idsOf,
  organizationId,
  posterOf,
  RebuildingConsumer,
  readText,
} from '../support/clients/rebuilding-consumer.ts'
import { Random } from '../support/data/random-doc.ts'
import { inParallel } from '../support/in-parallel.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { type ServerProcess, startProcessWith } from '../support/servers/process.ts'
import { dataOf } from '../support/servers/server.ts'

export interface FeedConsumerOptions {
  readonly documents: number
  readonly seed: number
  /**
   * `embedded`: one server, which is restored from a backup that is older than its last writes. `cluster`: two
   * nodes on PostgreSQL, each of which is killed once.
   */
  readonly store: 'embedded' | 'cluster'
  readonly say: (line: string) => void
}

export interface FeedConsumerResult {
  readonly writes: number
  readonly deletions: number
  /** Events that the consumer applied. */
  readonly events: number
  readonly kills: number
  readonly restarts: number
  /** Documents that the consumer has with other content than the server, at the end. */
  readonly differing: readonly string[]
}

const early = { compactAfterUpdates: 10 }

const settings = {
  WEFT_CALLS_PER_KEY: '0',
  WEFT_CALLS_PER_ADDRESS: '0',
  WEFT_NEW_DOCUMENTS_PER_WORKSPACE: '0',
  WEFT_BASE_VERSION_SECONDS: '1',
  WEFT_IDLE_UNLOAD_SECONDS: '2',
}
const writersAtOnce = 12
/** Writes for each document in each part of the load. */
const writesPerPart = 2
/** Maximum time in ms for which the consumer may be behind after the last write. */
const catchUpMs = 180_000
const noProgress = (): void => {}

/** Writes and deletes documents at random, while a consumer follows the feed and is killed at random positions. */
class FeedLoad {
  readonly consumer: RebuildingConsumer
  readonly documentIds: readonly string[]
  servers: readonly ServerProcess[] = []
  writes = 0
  deletions = 0
  readonly #random: Random
  #round = 0

  constructor({ documents, seed }: FeedConsumerOptions) {
    this.#random = new Random(seed)
    this.documentIds = Array.from({ length: documents }, (_, number) => `d${number}`)
    this.consumer = new RebuildingConsumer(new Random(seed + 1), this.documentIds)
  }

  /**
   * Makes `count` changes. Resolves when they were made; the consumer may be behind.
   * @param interrupt called after half of the changes
   */
  async run(count: number, interrupt = async (): Promise<void> => {}): Promise<void> {
    const running = { is: true }
    const following = this.#follow(running)
    let interrupting: Promise<void> | undefined
    const half = Math.floor(count / 2)
    const changes = Array.from({ length: count }, () => this.#anyDocument())
    // A document has one writer at a time, because a write to a document that is being deleted is rejected.
    const busy = new Set<string>()
    await inParallel([...changes.entries()], writersAtOnce, async ([index, documentId]) => {
      if (index === half) interrupting = interrupt()
      if (busy.has(documentId)) return
      busy.add(documentId)
      await this.#change(documentId)
      busy.delete(documentId)
    })
    await interrupting
    running.is = false
    await following
  }

  /** Resolves with the documents that differ from those of the server when the consumer has caught up. */
  async difference(say: (line: string) => void): Promise<readonly string[]> {
    const server = posterOf(this.#anyServer())
    let differing = this.documentIds
    const deadline = Date.now() + catchUpMs
    while (differing.length > 0 && Date.now() < deadline) {
      if (!(await this.consumer.step(server, 200))) continue
      const found: string[] = []
      // Reads again, because an interrupted deletion continues in the background.
      await inParallel(differing, 8, async (id) => {
        if (this.consumer.textOf(id) !== ((await readText(server, id))?.data ?? null)) found.push(id)
      })
      differing = found
      if (differing.length > 0) await new Promise((resolve) => setTimeout(resolve, 500))
    }
    for (const id of differing.slice(0, 20)) {
      const own = this.consumer.stored.copies.get(id)?.version
      const found = await readText(server, id)
      say(`${id}: ${own} ${this.consumer.textOf(id)}, not ${found?.version} ${found?.data}`)
    }
    return differing
  }

  async #change(documentId: string): Promise<void> {
    const isDeletion = this.#random.once(15)
    const data = `${documentId} ${'x'.repeat(this.#random.below(30))}${this.#round++}`
    const [path, body] = isDeletion
      ? ['/v2/organizations/documents/delete', { organizationId, documentIds: [documentId] }]
      : ['/v2/crdt/update', { ...idsOf(documentId), type: 'text', data, upsert: true }]
    // A call to a node that was killed has no answer. Its change may have been made.
    const answer = await this.#anyServer()
      .post(path, body)
      .catch(() => null)
    if (answer?.status !== 200) return
    if (isDeletion) this.deletions += 1
    else this.writes += 1
  }

  async #follow(running: { readonly is: boolean }): Promise<void> {
    while (running.is) {
      const server = this.#anyServer()
      const step = this.consumer.step(posterOf(server))
      const isEnd = await step.catch((error: unknown) => {
        // The node was killed during the call.
        if (error instanceof TypeError) return true
        throw error
      })
      if (isEnd) await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  /** Returns one of a few busy documents, whose logs are compacted, in half of the cases. */
  #anyDocument(): string {
    const { length } = this.documentIds
    const busy = Math.ceil(length / 20)
    return this.documentIds[this.#random.below(this.#random.once(2) ? busy : length)] as string
  }

  #anyServer(): ServerProcess {
    return this.#random.pick(this.servers)
  }
}

/** Runs a load on a feed, and compares the documents of a consumer with those of the server. */
export async function followFeed(options: FeedConsumerOptions): Promise<FeedConsumerResult> {
  const load = new FeedLoad(options)
  const restarts =
    options.store === 'embedded' ? await onEmbedded(load, options) : await onCluster(load, options)
  const { writes, deletions, consumer } = load
  return { writes, deletions, events: consumer.events, kills: consumer.kills, ...restarts }
}

type Ended = Pick<FeedConsumerResult, 'restarts' | 'differing'>

const enable = async (server: ServerProcess): Promise<void> => {
  dataOf(await posterOf(server).post('/v2/workspace/feed/update', { enabled: true }))
}

async function onEmbedded(load: FeedLoad, { say }: FeedConsumerOptions): Promise<Ended> {
  const root = mkdtempSync(join(tmpdir(), 'weft-feed-'))
  const part = load.documentIds.length * writesPerPart
  const [data, restored, backup] = [join(root, 'data'), join(root, 'restored'), join(root, 'backup')]
  let server = await startProcessWith(early, data, settings)
  try {
    load.servers = [server]
    await enable(server)
    await load.run(part)
    await server.end('SIGTERM')
    await writeBackup(backupOffline(data, systemClock), backup, noProgress)
    say(`backup after ${load.writes} writes; the consumer has applied ${load.consumer.events} events`)
    server = await startProcessWith(early, data, settings)
    load.servers = [server]
    await load.run(part)
    await server.end('SIGKILL')
    await restore(backup, restored, noProgress)
    say(`restore after ${load.writes} writes; the consumer has applied ${load.consumer.events} events`)
    server = await startProcessWith(early, restored, settings)
    load.servers = [server]
    await load.run(part)
    const differing = await load.difference(say)
    const { rejections } = load.consumer
    if (rejections.join() !== 'feed/cursor-expired')
      throw new Error(`the cursor must be rejected once, by the restore: ${rejections.join()}`)
    return { restarts: 2, differing }
  } finally {
    await server.end('SIGKILL')
    rmSync(root, { recursive: true, force: true, maxRetries: 20 })
  }
}

async function onCluster(load: FeedLoad, { say }: FeedConsumerOptions): Promise<Ended> {
  const root = mkdtempSync(join(tmpdir(), 'weft-feed-'))
  const postgres = await startPostgres()
  const shared = {
    ...settings,
    WEFT_ENGINE: 'postgres',
    WEFT_POSTGRES_URL: postgres.url,
    WEFT_POSTGRES_SCHEMA: 'weft',
    WEFT_JWT_SECRET: 'the-secret-that-all-nodes-of-a-cluster-have',
  }
  const start = (name: string) => startProcessWith(early, join(root, name), shared)
  const nodes: ServerProcess[] = []
  try {
    nodes.push(await start('node-1'))
    nodes.push(await start('node-2'))
    load.servers = nodes
    const [first] = nodes as [ServerProcess]
    await enable(first)
    const part = load.documentIds.length * writesPerPart
    for (const index of [1, 0]) {
      await load.run(part, async () => {
        const killed = nodes[index] as ServerProcess
        load.servers = nodes.filter((node) => node !== killed)
        await killed.end('SIGKILL')
        nodes[index] = await start(`node-${index + 1}`)
        load.servers = [...nodes]
      })
      say(`killed node ${index + 1}; the consumer has applied ${load.consumer.events} events`)
    }
    const differing = await load.difference(say)
    if (load.consumer.rejections.length > 0) throw new Error('a cursor was rejected without a restore')
    return { restarts: 2, differing }
  } finally {
    await Promise.all(nodes.map((node) => node.end('SIGKILL')))
    await postgres.remove()
    rmSync(root, { recursive: true, force: true, maxRetries: 20 })
  }
}
