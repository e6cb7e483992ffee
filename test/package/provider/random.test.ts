import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import type * as Y from 'yjs'
import type { DocumentProvider } from '../../../src/client/provider/index.ts'
import { eventually } from '../../support/clients/clients.ts'
import { openProvider, settled } from '../../support/clients/provider.ts'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { startCuttingRelay } from '../../support/faults/cutting-relay.ts'
import { type ServerProcess, startProcess } from '../../support/servers/process.ts'
import { times } from '../../support/time/full-run.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

const rounds = times(2, 6)
const stepsPerRound = 40
/** Maximum life of a connection in ms while the relay cuts. */
const lifeMs = 600

/** A user with a page that writes items, and what the page has shown as saved. */
class Page {
  readonly inserted = new Set<string>()
  readonly deleted = new Set<string>()
  savedInserts: readonly string[] = []
  savedDeletes: readonly string[] = []
  readonly #name: string
  readonly #options: Parameters<typeof openProvider>[0]
  provider: DocumentProvider

  constructor(name: string, options: Parameters<typeof openProvider>[0]) {
    this.#name = name
    this.#options = options
    this.provider = this.#open(openProvider(options))
  }

  get items(): Y.Array<string> {
    return this.provider.doc.getArray<string>('items')
  }

  #open(provider: DocumentProvider): DocumentProvider {
    provider.on('saved', (saved) => {
      if (!saved) return
      this.savedInserts = [...this.inserted]
      this.savedDeletes = [...this.deleted]
    })
    return provider
  }

  edit(random: Random): void {
    const own = this.items.toArray().filter((item) => this.inserted.has(item))
    if (random.once(5) && own.length > 0) {
      const item = random.pick(own)
      this.items.delete(this.items.toArray().indexOf(item))
      this.deleted.add(item)
    } else {
      const item = `${this.#name}${this.inserted.size}`
      this.inserted.add(item)
      this.items.insert(random.below(this.items.length + 1), [item])
    }
  }

  /** Ends the provider, and opens another one with the same document. */
  replaceProvider(): void {
    const { doc } = this.provider
    this.provider.destroy()
    this.provider = this.#open(openProvider({ ...this.#options, doc }))
  }
}

it(`[PROV-14] loses and doubles nothing, and nothing that it reported as saved is lost by SIGKILL, with random cuts and restarts (seed ${seed}, ${rounds} rounds)`, async () => {
  const random = new Random(seed)
  const data = await mkdtemp(join(tmpdir(), 'weft-provider-'))
  ends.push(() => rm(data, { recursive: true, force: true, maxRetries: 20 }))
  let server: ServerProcess = await startProcess(data)
  ends.push(() => server.end('SIGKILL'))
  const port = Number(new URL(server.url).port)
  const relay = await startCuttingRelay(server.url, () => random.below(lifeMs))
  ends.push(() => relay.stop())
  const token = await server.token()
  const pages = ['a', 'b', 'c'].map(
    (name) => new Page(name, { url: relay.url, getToken: () => token, documentId: 'random' }),
  )
  ends.push(() => {
    for (const { provider } of pages) provider.destroy()
  })
  const stored = async (): Promise<string[]> => {
    const address = { organizationId: 'acme', documentId: 'random', editorId: 'main', contentKey: 'items' }
    const found = (await server.post('/v2/crdt/get', address)).data as { data: string[] }[] | undefined
    return found?.[0]?.data ?? []
  }
  const context = (): string => `seed ${seed}`

  for (let round = 0; round < rounds; round++) {
    for (let step = 0; step < stepsPerRound; step++) {
      const page = random.pick(pages)
      page.edit(random)
      if (random.once(15)) relay.cut()
      if (random.once(10)) relay.heal()
      if (random.once(40)) page.replaceProvider()
      if (random.once(30)) page.provider.disconnect()
      if (random.once(10)) for (const each of pages) each.provider.connect()
      if (random.once(2)) await new Promise((resolve) => setTimeout(resolve, random.below(60)))
    }
    if (random.once(3)) await server.end('SIGTERM')
    else {
      // A stopped server stores nothing more, so a page that reports a later change as saved is wrong.
      if (random.once(2)) server.child.kill('SIGSTOP')
      for (const page of pages) page.edit(random)
      await new Promise((resolve) => setTimeout(resolve, random.below(20)))
      await server.end('SIGKILL')
    }
    // No page may connect before the check, because it would send lost changes again.
    relay.reject()
    const [inserts, deletes] = [
      pages.flatMap(({ savedInserts, deleted }) => savedInserts.filter((item) => !deleted.has(item))),
      pages.flatMap(({ savedDeletes }) => savedDeletes),
    ]
    server = await startProcess(data, {}, port)
    const items = await stored()
    expect(
      inserts.filter((item) => !items.includes(item)),
      context(),
    ).toEqual([])
    expect(
      deletes.filter((item) => items.includes(item)),
      context(),
    ).toEqual([])
    relay.heal()
  }
  for (const { provider } of pages) provider.connect()
  await Promise.all(pages.map(({ provider }) => settled(provider)))
  const expected = pages.flatMap(({ inserted, deleted }) =>
    [...inserted].filter((item) => !deleted.has(item)),
  )
  const isComplete = (items: readonly string[]): boolean =>
    items.length === expected.length && expected.every((item) => items.includes(item))
  await eventually(() => pages.every(({ items }) => isComplete(items.toArray())), context)
  const items = await stored()
  expect(items.toSorted(), context()).toEqual(expected.toSorted())
  for (const page of pages) expect(page.items.toArray(), context()).toEqual(items)
  // A run of a few rounds may have no cut by chance.
  if (rounds < 6) return
  expect(relay.cuts).toBeGreaterThan(0)
  expect(pages.every(({ savedInserts }) => savedInserts.length > 0)).toBe(true)
})
