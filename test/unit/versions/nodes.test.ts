import { expect, it } from 'vitest'
import { blobKeys } from '../../../src/capabilities/history/version-keys.ts'
import { type NewVersion, VersionStore } from '../../../src/capabilities/history/version-store.ts'
import { decodeUserEdit } from '../../../src/core/events/edit-windows.ts'
import { addressKey } from '../../../src/core/model/address.ts'
import type { Engine } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { typed } from '../../support/clients/clients.ts'
import { directoryOn, scopeOf, tenant } from '../../support/data/directory.ts'
import { sharedNodes } from '../../support/servers/simulated-network.ts'
import { HeldClock } from '../../support/time/clock.ts'

const scope = scopeOf(tenant, 'acme')
const address = { ...scope, documentId: 'd', editorId: 'main' }

async function stores() {
  const clock = new HeldClock()
  const store = await openMemoryEngine({ clock })
  const nodes = await sharedNodes(2, { clock, store })
  const engines = nodes.map(({ engine }) => engine) as [Engine, Engine]
  const directory = directoryOn(engines[0], clock)
  await directory.organizations.ensure(scope)
  await directory.documents.ensure(scope, 'd')
  const appended = await store.log.append(addressKey(address), 'create', [{ bytes: typed('x', 1), by: '' }])
  const { epoch } = appended
  const version = (text: string): NewVersion => ({
    kind: 'manual',
    label: text,
    metadata: {},
    createdBy: '',
    createdAt: clock.now(),
    bytes: typed(text, 1),
    version: text,
    epoch,
  })
  return { clock, store, nodes, engines, directory, version }
}

/** A node that pauses after it has stored a blob, until it is released. */
function pausing(engine: Engine) {
  let [go, stored] = [(): void => {}, (): void => {}]
  const gate = new Promise<void>((resolve) => {
    go = resolve
  })
  const isStored = new Promise<void>((resolve) => {
    stored = resolve
  })
  const { blobs } = engine
  const put: Engine['blobs']['put'] = async (key, bytes) => {
    await blobs.put(key, bytes)
    stored()
    await gate
  }
  const own: Engine['blobs'] = {
    put,
    get: (key) => blobs.get(key),
    delete: (key) => blobs.delete(key),
    list: (...call) => blobs.list(...call),
  }
  return { engine: { ...engine, blobs: own }, isStored, go: () => go() }
}

it('[CS-60] when it removes a version, keeps content that another node is storing at that moment', async () => {
  const { clock, engines, directory, version } = await stores()
  const paused = pausing(engines[0])
  const here = new VersionStore(paused.engine, directory.store, clock)
  const there = new VersionStore(engines[1], directory.store, clock)
  const first = await there.add(address, version('one'))
  const adding = here.add(address, version('two'))
  await paused.isStored
  await there.remove(address, [first.versionId])
  await there.sweep(address)
  paused.go()
  const second = await adding
  expect(await there.contentOf(address, second)).toEqual(version('two').bytes)
})

it('[CS-60] after some time, removes content that no version refers to', async () => {
  const { clock, store, engines, directory, version } = await stores()
  const there = new VersionStore(engines[1], directory.store, clock)
  const first = await there.add(address, version('one'))
  const kept = await there.add(address, version('two'))
  await there.remove(address, [first.versionId])
  clock.advance(3_600_000)
  const jobs = await store.queue.claim('versions', 10, 1_000)
  expect(jobs.length).toBeGreaterThan(0)
  await there.sweep(address)
  const names = (await store.blobs.list(['versions'], { limit: 10 })).map((key) => key.at(-1))
  expect(names).toEqual([kept.hash])
})

it('[CS-60] keeps the content of a version even if its node was considered dead before the version was stored', async () => {
  const { clock, nodes, engines, directory, version } = await stores()
  const paused = pausing(engines[0])
  const here = new VersionStore(paused.engine, directory.store, clock)
  const there = new VersionStore(engines[1], directory.store, clock)
  const adding = here.add(address, version('one'))
  await paused.isStored
  nodes[0]?.cut()
  await there.sweep(address)
  nodes[0]?.mend()
  paused.go()
  expect(await there.contentOf(address, await adding)).toEqual(version('one').bytes)
})

it('[CS-60] removes content only after the time in which a version can still refer to it', async () => {
  const { clock, store, engines, directory, version } = await stores()
  const paused = pausing(engines[0])
  const adding = new VersionStore(paused.engine, directory.store, clock).add(address, version('one'))
  await paused.isStored
  expect(await store.queue.claim('versions', 10, 1_000)).toEqual([])
  clock.advance(3_600_000)
  expect(await store.queue.claim('versions', 10, 1_000)).toHaveLength(1)
  paused.go()
  await adding
})

it('[CS-60] removes content with a time in its name only after an hour, and content of older server versions, whose name has no time, immediately', async () => {
  const { clock, store, engines, directory } = await stores()
  const there = new VersionStore(engines[1], directory.store, clock)
  for (const name of ['digest', `digest.${clock.now()}.random`])
    await store.blobs.put(blobKeys.blob(address, name), typed('x', 1))
  const names = async () => (await store.blobs.list(['versions'], { limit: 10 })).map((key) => key.at(-1))
  await there.sweep(address)
  expect(await names()).toEqual([`digest.${clock.now()}.random`])
  clock.advance(3_600_000)
  await there.sweep(address)
  expect(await names()).toEqual([])
})

it('[CS-61] when a document has been at another node, makes a user who edits an author of the next version', async () => {
  const { clock, store, nodes, engines } = await stores()
  const { windows } = directoryOn(engines[1], clock).edits
  const edited = [{ userId: 'ann' }]
  expect(windows.noted(address, edited)?.jobs).toHaveLength(1)
  expect(windows.noted(address, edited)).toBeNull()
  nodes[0]?.cut()
  const [job] = windows.noted(address, edited)?.jobs ?? []
  expect(decodeUserEdit(job?.payload ?? new Uint8Array())).toMatchObject({ user: edited[0], isAuthor: true })
  expect(windows.noted(address, edited)).toBeNull()
  await store.close()
})
