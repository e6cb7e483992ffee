import { afterEach, beforeEach, expect, it } from 'vitest'
import { type LevelEngine, openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { type OpenStore, openLevelStore } from '../../../src/core/store/level/store/store.ts'
import { bytesOf, docKey, keepNone, loadLive, updates } from '../suite/sample-data.ts'
import { type TemporaryDirectory, temporaryDirectory } from './store-tools.ts'

const doc = docKey('document')
const large = new Uint8Array(300_000).fill(1)
const small = bytesOf('small')

let directory: TemporaryDirectory
let engine: LevelEngine
/** Sizes of the values of each batch. */
let batches: number[][]

/** A real store that reports its writes. */
const openStore: OpenStore = async (path) => {
  const store = await openLevelStore(path)
  return {
    ...store,
    write: async (operations, sync) => {
      batches.push(operations.map(({ value }) => value?.length ?? 0))
      await store.write(operations, sync)
    },
  }
}

const open = (): Promise<LevelEngine> => openLevelEngine({ directory: directory.path, openStore })
const reopen = async (): Promise<void> => {
  await engine.close()
  engine = await open()
}
const commit = (key: string, value: Uint8Array): Promise<boolean> =>
  engine.kv.commit(['part'], { puts: [{ key: [key], value }] })
const bytesAt = async (key: string): Promise<number | undefined> =>
  (await engine.kv.get(['part'], [[key]]))[0]?.length

beforeEach(async () => {
  batches = []
  directory = await temporaryDirectory()
  engine = await open()
  batches = []
})

afterEach(async () => {
  await engine.close()
  await directory.remove()
})

it('writes a large value last in its batch, so that LevelDB does not copy it again for a further operation', async () => {
  await Promise.all([commit('a', large), commit('b', small), commit('c', small)])
  expect(batches).toHaveLength(1)
  expect(batches[0]?.at(-1)).toBeGreaterThan(large.length)
})

it('[ENG-25] writes the last value of a key if large and small values are in one batch', async () => {
  const remove = engine.kv.commit(['part'], { puts: [{ key: ['removed'], value: large }] })
  const writes = [
    commit('shrunk', large),
    commit('shrunk', small),
    commit('grown', small),
    commit('grown', large),
    remove,
    engine.kv.commit(['part'], { dels: [['removed']] }),
    commit('changed', large),
    commit('changed', large.subarray(1)),
  ]
  await Promise.all(writes)
  expect(batches).toHaveLength(1)
  await reopen()
  expect(await bytesAt('shrunk')).toBe(small.length)
  expect(await bytesAt('grown')).toBe(large.length)
  expect(await bytesAt('removed')).toBeUndefined()
  expect(await bytesAt('changed')).toBe(large.length - 1)
})

/** Is copied in five ticks. */
const snapshot = new Uint8Array(5_000_000).map((_, index) => index % 251)

it('[ENG-12] loads a large snapshot, which was copied in several ticks, unchanged', async () => {
  await engine.log.append(doc, 'create', updates('a', 'b'))
  expect(await engine.log.compact(doc, 1, 0, 2, snapshot, keepNone)).toBe(true)
  await reopen()
  expect(Buffer.compare((await loadLive(engine.log, doc)).snapshot ?? small, snapshot)).toBe(0)
})

it('[ENG-13] stores no large snapshot of a log that is destroyed meanwhile', async () => {
  await engine.log.append(doc, 'create', updates('a'))
  batches = []
  const compacting = engine.log.compact(doc, 1, 0, 1, snapshot, keepNone)
  await engine.log.destroy(doc)
  expect(await compacting).toBe(false)
  expect(batches.flat().filter((bytes) => bytes > snapshot.length)).toEqual([])
})
