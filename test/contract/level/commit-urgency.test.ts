import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type LevelEngine, openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { type OpenStore, openLevelStore } from '../../../src/core/store/level/store/store.ts'
import { bytesOf } from '../suite/sample-data.ts'
import { temporaryDirectory } from './store-tools.ts'

let engine: LevelEngine
let directory: { readonly path: string; remove(): Promise<void> }
/** Keys of each batch. */
let batches: (readonly string[])[]

/** A real store that reports its writes. */
const openStore: OpenStore = async (path) => {
  const store = await openLevelStore(path)
  return {
    ...store,
    write: async (operations, sync) => {
      batches.push(operations.map(({ key }) => Buffer.from(key).toString('latin1')))
      await store.write(operations, sync)
    },
  }
}

beforeEach(async () => {
  directory = await temporaryDirectory()
  batches = []
  engine = await openLevelEngine({ directory: directory.path, openStore })
  batches = []
})
afterEach(async () => {
  await engine.close()
  await directory.remove()
})

const soon = (name: string) =>
  engine.kv.commit(['log'], { puts: [{ key: [name], value: bytesOf('x') }], pace: 'soon' })
const put = (name: string) => engine.kv.commit(['data'], { puts: [{ key: [name], value: bytesOf('x') }] })
/** The given names whose keys each batch contains. */
const having = (...names: readonly string[]) =>
  batches.map((keys) => names.filter((name) => keys.some((key) => key.includes(name))))

it('[ENG-71] delays a commit that is not urgent until the next commit, or until the end of its delay', async () => {
  const order: string[] = []
  const waiting = soon('first').then(() => order.push('first'))
  await nextTurn()
  expect(batches).toEqual([])
  await put('second').then(() => order.push('second'))
  await waiting
  expect(having('first', 'second')).toEqual([['first', 'second']])
  expect(order).toEqual(['first', 'second'])
  expect(await soon('third')).toBe(true)
  expect(having('first', 'second', 'third')).toEqual([['first', 'second'], ['third']])
})

it('[ENG-71] never stores a later commit before a delayed commit, and stores the delayed commit immediately when the store closes', async () => {
  for (let index = 0; index < 50; index++) {
    void soon(`early-${index}.`)
    await nextTurn()
    void put(`late-${index}.`)
    if (index % 7 === 0) await put(`other-${index}.`)
  }
  const last = soon('last')
  await engine.close()
  expect(await last).toBe(true)
  const placeOf = (name: string) => batches.findIndex((keys) => keys.some((key) => key.includes(name)))
  for (let index = 0; index < 50; index++) {
    expect(placeOf(`early-${index}.`)).not.toBe(-1)
    expect(placeOf(`early-${index}.`)).toBeLessThanOrEqual(placeOf(`late-${index}.`))
  }
})

it('[ENG-74] writes the commits of many concurrent writers in shared batches, and does not delay a single writer', async () => {
  for (let index = 0; index < 20; index++) await put(`alone-${index}.`)
  expect(batches).toHaveLength(20)
  batches = []
  const start = performance.now()
  const crowd: Promise<unknown>[] = []
  while (performance.now() - start < 300) {
    if ((performance.now() - start) * 5 > crowd.length) crowd.push(put(`crowd-${crowd.length}.`))
    await nextTurn()
  }
  await Promise.all(crowd)
  // The first commits set the pace. Timers are exact to a millisecond: 2 ms may be little more than one.
  expect(batches.length).toBeLessThan(20 + (performance.now() - start) / 1.2)
})
