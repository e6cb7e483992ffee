import { afterEach, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { openPostgresEngine } from '../../../src/cluster/postgres/engine.ts'
import type { ChangeSource } from '../../../src/core/model/change-origin.ts'
import { readAttribution } from '../../../src/core/rooms/log/read-attribution.ts'
import type { DocumentLog } from '../../../src/core/store/engine.ts'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import type { Attribution } from '../../../src/core/update/attribution/attribution.ts'
import { temporaryDirectory } from '../../contract/level/store-tools.ts'
import { editRandomly, Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { missing } from '../../support/needs.ts'
import { runCli } from '../../support/servers/cli.ts'
import { startNodes } from '../../support/servers/node-servers.ts'
import { startPostgres } from '../../support/servers/postgres.ts'
import { startProcessWith } from '../../support/servers/process.ts'
import { itLong, times } from '../../support/time/full-run.ts'

const editor = { organizationId: 'acme', documentId: 'd', editorId: 'main' }
const users = ['ann', 'bob', 'cem']
/** Client ids that the users share, so that they forge each other's ids. */
const clientIds = [11, 2 ** 32, 2 ** 53 - 1]

type Call = (operation: string, data: object) => Promise<{ readonly status: number; readonly data: unknown }>

/** A server, or several nodes, over a store. */
interface System {
  readonly call: Call
  /** Ends the server in the middle of `work`, and starts it again. Absent if the store ends with the server. */
  readonly crash?: (work: () => Promise<unknown>, afterMs: number) => Promise<void>
  /** Stops the server, compacts the store with the command line, and starts the server again. */
  readonly compact?: () => Promise<void>
  /** Stops the server. Calls `work` with the log, as it is stored. */
  readonly end: (work: (log: DocumentLog) => Promise<void>) => Promise<void>
}

interface Author {
  readonly by: string
  readonly source: ChangeSource
}

/**
 * The author of each id of a document. An id belongs to the call after which the document first had it. Calls
 * are made one after the other.
 */
class AuthorModel {
  readonly inserted = new Map<string, Author>()
  readonly deleted = new Map<string, Author>()

  observe(state: Uint8Array, author: Author): void {
    const { structs, ds } = Y.decodeUpdate(state)
    for (const { id, length } of structs) claim(this.inserted, author, id.client, id.clock, length)
    for (const [client, ranges] of ds.clients)
      for (const { clock, len } of ranges) claim(this.deleted, author, client, clock, len)
  }
}

function claim(
  ids: Map<string, Author>,
  author: Author,
  client: number,
  clock: number,
  length: number,
): void {
  for (let id = clock; id < clock + length; id++)
    if (!ids.has(`${client}:${id}`)) ids.set(`${client}:${id}`, author)
}

function authorsIn(lists: Attribution['inserted']): Map<string, Author> {
  const authors = new Map<string, Author>()
  for (const [client, ranges] of lists)
    for (const { clock, length, origin } of ranges)
      claim(authors, { by: origin.by, source: origin.source }, client, clock, length)
  return authors
}

class RandomUsers {
  readonly #system: System
  readonly #random: Random
  readonly #model = new AuthorModel()
  readonly #versions: string[] = []
  #state: Uint8Array = Uint8Array.of(0, 0)

  constructor(system: System, random: Random) {
    this.#system = system
    this.#random = random
  }

  async begin(): Promise<void> {
    const by = 'ann'
    await this.#write('add', { type: 'text', contentKey: 'text', data: 'start', userId: by })
    await this.#observe({ by, source: 'rest' })
  }

  /** Does one step. @param what kind of the step; a step of a random kind may be interrupted by a crash */
  step(what?: number): Promise<void> {
    return this.#do(what ?? this.#random.below(20), what === undefined)
  }

  async #do(what: number, mayCrash: boolean): Promise<void> {
    const random = this.#random
    const { compact } = this.#system
    const crash = mayCrash ? this.#system.crash : undefined
    const by = random.pick(users)
    const { source, work } = this.#work(what, by)
    if (what === 2 && compact !== undefined) await compact()
    if (what < 5 && crash !== undefined) await crash(() => work().catch(() => undefined), random.below(30))
    else await work()
    await this.#observe({ by, source })
  }

  async check(): Promise<void> {
    const { inserted, deleted } = this.#model
    await this.#system.end(async (log) => {
      const [doc = []] = await log.list([], { limit: 1 })
      expect((await log.heads([doc]))[0]?.base).toBeGreaterThan(0)
      const attribution = await readAttribution(log, doc)
      expect(authorsIn(attribution.inserted)).toEqual(inserted)
      expect(authorsIn(attribution.deleted)).toEqual(deleted)
    })
  }

  #work(what: number, by: string): { readonly source: ChangeSource; readonly work: () => Promise<void> } {
    if (what === 0) return { source: 'rest', work: () => this.#createVersion() }
    const versionId = this.#versions.length === 0 ? undefined : this.#random.pick(this.#versions)
    if (what === 1 && versionId !== undefined)
      return {
        source: 'restore',
        work: () => this.#write('versions/restore', { versionId, userId: by }),
      }
    const update = this.#update(what)
    return { source: 'rest', work: () => this.#write('apply', { update, userId: by }) }
  }

  /** Returns an update with edits, with the whole state, or with both. */
  #update(what: number): string {
    const random = this.#random
    const doc = new Y.Doc()
    Y.applyUpdate(doc, this.#state)
    doc.clientID = random.pick(clientIds)
    const before = Y.encodeStateVector(doc)
    if (what !== 6) for (let edits = 1 + random.below(8); edits > 0; edits--) editRandomly(doc, random)
    if (random.once(5)) doc.getText('text').insert(0, 'long '.repeat(1_000))
    const update = Y.encodeStateAsUpdate(doc, what < 8 ? undefined : before)
    return Buffer.from(update).toString('base64')
  }

  async #createVersion(): Promise<void> {
    const { data } = await this.#system.call('versions/create', editor)
    this.#versions.push((data as { versionId: string }).versionId)
  }

  async #write(operation: string, data: object): Promise<void> {
    const { status } = await this.#system.call(operation, { ...editor, ...data })
    if (status !== 200) throw new Error(`${operation} returned ${status}`)
  }

  async #observe(author: Author): Promise<void> {
    const { data } = await this.#system.call('get', { ...editor, format: 'update' })
    const [{ data: state }] = data as [{ data: string }]
    this.#state = Buffer.from(state, 'base64')
    this.#model.observe(this.#state, author)
  }
}

const early = { compactAfterUpdates: 10 }

const compacting = {
  WEFT_CALLS_PER_KEY: '0',
  WEFT_IDLE_UNLOAD_SECONDS: '0',
  WEFT_BASE_VERSION_SECONDS: '1',
}

let remove = async (): Promise<void> => undefined
afterEach(() => remove())

/** A server process over LevelDB. */
async function levelSystem(): Promise<System> {
  const directory = await temporaryDirectory()
  const { path } = directory
  let server = await startProcessWith(early, path, compacting)
  remove = async () => {
    await server.end('SIGKILL')
    await directory.remove()
  }
  return {
    call: (operation, data) => server.post(`/v2/crdt/${operation}`, data),
    crash: async (work, afterMs) => {
      const working = work()
      await new Promise((resolve) => setTimeout(resolve, afterMs))
      await server.end('SIGKILL')
      await working
      server = await startProcessWith(early, path, compacting)
    },
    compact: async () => {
      await server.end('SIGTERM')
      expect((await runCli(['compact', path], path)).code).toBe(0)
      server = await startProcessWith(early, path, compacting)
    },
    end: async (work) => {
      await server.end('SIGTERM')
      expect((await runCli(['verify', path], path)).code).toBe(0)
      const engine = await openLevelEngine({ directory: path })
      try {
        await work(engine.log)
      } finally {
        await engine.close()
      }
    },
  }
}

/**
 * Kinds of steps that few steps of random kinds may lack: an edit, a version, the whole state again, an edit, its restore,
 * a compaction.
 */
const eachKind = [10, 0, 6, 10, 1, 2]

async function run(system: System, steps: number): Promise<void> {
  const random = new Random(seed)
  const all = new RandomUsers(system, random)
  await all.begin()
  for (const what of eachKind) await all.step(what)
  for (let step = 0; step < steps; step++) await all.step()
  await all.check()
}

describe(`authors of random histories (seed ${seed})`, () => {
  it('[ATT-15] keeps the author of each id over compactions, restored versions and SIGKILL, with forged client ids', async () => {
    await run(await levelSystem(), times(20, 60))
  }, 600_000)

  it('[ATT-15] keeps the author of each id if users write at two nodes', async () => {
    const { servers, stop } = await startNodes(2, {
      compactAfterUpdates: 10,
      idleUnloadSeconds: 0,
      baseVersionSeconds: 1,
    })
    remove = stop
    const random = new Random(seed)
    const call: Call = async (operation, data) => {
      const response = await random.pick(servers).post(`/v2/crdt/${operation}`, data)
      const { result } = response.body as { result?: { data?: unknown } }
      return { status: response.status, data: result?.data }
    }
    const log = servers[0]?.node.engine.log as DocumentLog
    await run({ call, end: (work) => work(log) }, times(40, 120))
  }, 600_000)

  const itPostgres = missing('postgres') === null ? itLong : it.skip
  itPostgres(
    '[ATT-15] keeps the author of each id in PostgreSQL over SIGKILL',
    async () => {
      const postgres = await startPostgres()
      const directory = await temporaryDirectory()
      const { path } = directory
      const schema = postgres.newSchema()
      const environment = {
        ...compacting,
        WEFT_ENGINE: 'postgres',
        WEFT_POSTGRES_URL: postgres.url,
        WEFT_POSTGRES_SCHEMA: schema,
      }
      let server = await startProcessWith(early, path, environment)
      remove = async () => {
        await server.end('SIGKILL')
        await postgres.remove()
        await directory.remove()
      }
      const system: System = {
        call: (operation, data) => server.post(`/v2/crdt/${operation}`, data),
        crash: async (work, afterMs) => {
          const working = work()
          await new Promise((resolve) => setTimeout(resolve, afterMs))
          await server.end('SIGKILL')
          await working
          server = await startProcessWith(early, path, environment)
        },
        end: async (work) => {
          await server.end('SIGTERM')
          const engine = await openPostgresEngine({ url: postgres.url, schema })
          try {
            await work(engine.log)
          } finally {
            await engine.close()
          }
        },
      }
      await run(system, 20)
    },
    600_000,
  )
})
