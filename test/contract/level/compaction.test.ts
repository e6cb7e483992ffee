import { cp } from 'node:fs/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type LevelEngine, openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { deletedPerCommitMax } from '../../../src/core/store/level/log/compaction.ts'
import { type OpenStore, openLevelStore } from '../../../src/core/store/level/store/store.ts'
import { eventually } from '../../support/clients/clients.ts'
import { filesWith } from '../../support/stores/stored-keys.ts'
import { HeldClock } from '../../support/time/clock.ts'
import {
  bytesOf,
  docKey,
  entriesOf,
  keepNone,
  loadLive,
  numbered,
  textOf,
  updates,
} from '../suite/sample-data.ts'
import { storedKeys, type TemporaryDirectory, temporaryDirectory } from './store-tools.ts'

const doc = docKey('document')
/** More than two commits can delete, each an append of its own. */
const appends = 2 * deletedPerCommitMax + 10

let directory: TemporaryDirectory
let image: TemporaryDirectory
let engine: LevelEngine
let clock: HeldClock
/** Number of keys deleted by each batch with deletions. */
let deletions: number[]
/** Runs before each such batch. */
let beforeDeleting: () => Promise<void>

/** Runs before the keys of the next slice are read. */
let beforeSlice: () => Promise<void>

/** A real store that reports its deletions. */
const openStore: OpenStore = async (path) => {
  const store = await openLevelStore(path)
  return {
    ...store,
    async *pages(range, options) {
      if (options?.limit === deletedPerCommitMax) await beforeSlice()
      yield* store.pages(range, options)
    },
    write: async (operations, sync) => {
      const deleted = operations.filter(({ value }) => value === null).length
      if (deleted > 0) {
        await beforeDeleting()
        deletions.push(deleted)
      }
      await store.write(operations, sync)
    },
  }
}

const open = (path: string): Promise<LevelEngine> => {
  clock = new HeldClock()
  return openLevelEngine({ directory: path, clock, openStore, durability: 'process' })
}

beforeEach(async () => {
  directory = await temporaryDirectory()
  image = await temporaryDirectory()
  deletions = []
  beforeDeleting = async () => {}
  beforeSlice = async () => {}
  engine = await open(directory.path)
  const [first, ...rest] = numbered(1, appends)
  await engine.log.append(doc, 'create', first === undefined ? [] : [first])
  await Promise.all(rest.map((update) => engine.log.append(doc, 1, [update])))
})

afterEach(async () => {
  await engine.close()
  await directory.remove()
  await image.remove()
})

const compact = ({ log }: LevelEngine, expectBase: number, upTo: number, keepSince = keepNone) =>
  log.compact(doc, 1, expectBase, upTo, bytesOf(`1 to ${upTo}`), keepSince)

/** Number of stored heads, snapshots and appends. */
const stored = ({ store }: TemporaryDirectory): Promise<number> =>
  storedKeys(store, 'document').then((keys) => keys.length)

/** Compacts, and copies the store in the state that a crash during the deletions would leave. */
async function compactAndCrash(): Promise<void> {
  let slices = 0
  beforeDeleting = async () => {
    slices += 1
    if (slices === 2) await cp(directory.path, image.path, { recursive: true })
  }
  expect(await compact(engine, 0, appends - 1)).toBe(true)
  await engine.close()
  engine = await open(image.path)
  deletions = []
}

it('[ENG-56] after a compaction, deletes the unreachable entries in commits of limited size', async () => {
  expect(await compact(engine, 0, appends - 1)).toBe(true)
  expect(deletions).toEqual([deletedPerCommitMax, deletedPerCommitMax, 9])
  await engine.close()
  // The head, the snapshot, its authors and one update.
  expect(await stored(directory)).toBe(4)
})

it('[ENG-56] after a compaction, keeps only the entries that older versions need', async () => {
  expect(await compact(engine, 0, appends - 8, 0)).toBe(true)
  expect(await compact(engine, appends - 8, appends - 6)).toBe(true)
  expect(await compact(engine, appends - 6, appends - 4, 0)).toBe(true)
  expect(await compact(engine, appends - 4, appends - 2, 0)).toBe(true)
  expect(await compact(engine, appends - 2, appends, 0)).toBe(true)
  await engine.close()
  expect(await stored(directory)).toBe(1 + 3 + 1 + 6)
  engine = await open(directory.path)
  await engine.log.destroy(doc)
  await engine.close()
  expect(await stored(directory)).toBe(1)
})

it('[ENG-56] when a crash interrupts the deletions of a compaction, loses no content, restores no deleted entry, and completes the deletions at the next compaction', async () => {
  await compactAndCrash()
  const loaded = await loadLive(engine.log, doc)
  expect([textOf(loaded.snapshot), entriesOf(loaded)]).toEqual([
    `1 to ${appends - 1}`,
    [[appends, String(appends)]],
  ])
  expect(await engine.log.loadAt(doc, 1, appends - 2)).toBeNull()
  expect(await engine.log.append(doc, 1, updates('more'))).toMatchObject({ first: appends + 1 })
  expect(await compact(engine, appends - 1, appends + 1)).toBe(true)
  expect(deletions.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(deletedPerCommitMax)
  await engine.close()
  expect(await stored(image)).toBe(3)
})

it('[ENG-56] when a document is deleted and created again after a crash during a compaction, keeps nothing of the old document', async () => {
  await compactAndCrash()
  await engine.log.destroy(doc)
  await engine.log.append(doc, 'recreate', updates('anew'))
  expect(entriesOf(await loadLive(engine.log, doc))).toEqual([[1, 'anew']])
  await engine.close()
  expect(await stored(image)).toBe(2)
})

it('[ENG-56] keeps the new entries of a document that is deleted and created again while a compaction deletes old entries', async () => {
  let slices = 0
  // The second append of the new log has a number of an old update that is not deleted yet.
  const first = appends - 5
  beforeSlice = async () => {
    slices += 1
    if (slices !== 3) return
    await engine.log.destroy(doc)
    await engine.log.append(doc, 'recreate', numbered(1, first))
    await engine.log.append(doc, 2, numbered(first + 1, 1))
    await engine.log.append(doc, 2, numbered(first + 2, 1))
  }
  expect(await compact(engine, 0, appends - 1)).toBe(true)
  expect(slices).toBe(3)
  expect((await loadLive(engine.log, doc)).entries).toHaveLength(first + 2)
})

it('[ENG-56] leaves only one record of a document that is deleted during its compaction', async () => {
  for (let turns = 0; turns < 30; turns++) {
    const name = docKey(`document ${turns}`)
    await engine.log.append(name, 'create', numbered(1, 3))
    const compacted = engine.log.compact(name, 1, 0, 2, bytesOf('1 to 2'), 0)
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
    await Promise.all([compacted, engine.log.destroy(name)])
  }
  await engine.close()
  expect(await storedKeys(directory.store, 'document ')).toHaveLength(30)
})

it('[ENG-56] the store closes without waiting until a compaction has deleted old entries', async () => {
  let closing: Promise<void> = Promise.resolve()
  beforeDeleting = async () => {
    closing = engine.close()
  }
  expect(await compact(engine, 0, appends - 1)).toBe(true)
  await closing
  expect(deletions).toEqual([deletedPerCommitMax])
})

/** Deletions of the keys around the two ranges of a document, with which a rewrite of its tables starts. */
const keysAround = 4

/** Waits until LevelDB has rewritten the tables of the document. */
async function rewrite(): Promise<void> {
  clock.advance(10_000)
  await eventually(() => deletions.at(-1) === keysAround)
  await engine.close()
}

it('[ENG-85] keeps the attribution when the tables of the document are rewritten', async () => {
  expect(await engine.log.compact(doc, 1, 0, appends, bytesOf('all'), keepNone, bytesOf('authors'))).toBe(
    true,
  )
  await rewrite()
  engine = await open(directory.path)
  const { attribution } = await loadLive(engine.log, doc, { attribution: true })
  expect(attribution && textOf(attribution)).toBe('authors')
})

it('[DATA-12] no file contains the id of a forgotten user after the tables are rewritten', async () => {
  const small = docKey('small')
  const by = 'user-to-forget'
  const files = (): Promise<string[]> => filesWith(directory.path, by)
  await engine.log.append(small, 'create', [{ bytes: bytesOf('1'), by }])
  await engine.log.compact(small, 1, 0, 1, bytesOf('1'), keepNone, bytesOf(`1 by ${by}`))
  await engine.log.append(small, 1, [{ bytes: bytesOf('2'), by, source: 'rest' }])
  expect(await files()).not.toEqual([])
  expect(await engine.log.compact(small, 1, 1, 2, bytesOf('2'), keepNone, bytesOf('2 by nobody'), by)).toBe(
    true,
  )
  await rewrite()
  expect(await files()).toEqual([])
})
