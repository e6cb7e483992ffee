import { afterEach, beforeEach, expect, it } from 'vitest'
import { BatchedReads, LoopReads, type ReadSnapshot } from '../../../src/core/store/level/store/reads.ts'
import { openLevelStore, type Store } from '../../../src/core/store/level/store/store.ts'
import { type TemporaryDirectory, temporaryDirectory } from './store-tools.ts'

const key = (name: string | number): Buffer => Buffer.from(`key ${name}`)
const put = (name: string | number, value: string) => ({ key: key(name), value: Buffer.from(value) })

let directory: TemporaryDirectory
let store: Store

beforeEach(async () => {
  directory = await temporaryDirectory()
  store = await openLevelStore(directory.store)
})

afterEach(async () => {
  await store.close()
  await directory.remove()
})

it('[ENG-72] when one tick has several reads, returns to each read the value of its key', async () => {
  const names = Array.from({ length: 300 }, (_, index) => index)
  await store.write(
    names.filter((name) => name % 3 > 0).map((name) => put(name, `value ${name}`)),
    false,
  )
  const moment = store.snapshot()
  for (const reads of [store, moment]) {
    const values = await Promise.all(names.map((name) => reads.get(key(name))))
    expect(values.map((value) => value?.toString())).toEqual(
      names.map((name) => (name % 3 > 0 ? `value ${name}` : undefined)),
    )
  }
  await moment.close()
})

it('[ENG-72] reads all keys of one tick together, and rejects only the read of a damaged value', async () => {
  const asked: number[] = []
  const gathered = new BatchedReads(async (keys) => {
    asked.push(keys.length)
    if (keys.some((each) => each[0] === 7)) throw new Error('damaged')
    return keys.map((each) => Buffer.from(each))
  })
  const reads = [1, 7, 3].map((name) => gathered.get(Uint8Array.of(name)))
  const outcomes = await Promise.allSettled(reads)
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(asked).toEqual([3, 1, 1, 1])
})

it('[ENG-91] reads values of one moment in the event loop while a write is in progress', async () => {
  for (let n = 0; n < 200; n++) {
    const written = store.write([put('a', String(n)), put('b', String(n))], false)
    for (let reads = 0; reads < 5; reads++) {
      const [a, b] = store.getNow([key('a'), key('b')]) ?? []
      expect(a?.toString()).toBe(b?.toString())
      await new Promise(setImmediate)
    }
    await written
  }
  expect(store.getNow([key('b')])?.map(String)).toEqual(['199'])
})

it('[ENG-91] reads a limited number of values in the event loop in one tick', async () => {
  const keys = Array.from({ length: 250 }, (_, index) => key(index))
  const counts = (): readonly (number | undefined)[] => [1, 2, 3].map(() => store.getNow(keys)?.length)
  expect(counts()).toEqual([250, 250, undefined])
  await new Promise(setImmediate)
  expect(counts()).toEqual([250, 250, undefined])
})

it('[ENG-91] when reads are slow, reads in the event loop for at most 5 % of the time', () => {
  let [now, readMs] = [0, 0]
  const reads = new LoopReads(
    () => {
      now += readMs
      return undefined
    },
    () => now,
  )
  const read = (): boolean => reads.read([key('x')]) !== null
  readMs = 20
  expect([1, 2, 3, 4].map(read)).toEqual([true, true, true, false])
  const from = now
  let busyMs = 0
  for (; now < from + 20_000; now += 1) if (read()) busyMs += readMs
  expect(busyMs / (now - from)).toBeLessThan(0.055)
  expect(busyMs).toBeGreaterThan(500)
})

it('[ENG-91] leaves a value that cannot be read to a thread', () => {
  const reads = new LoopReads(() => {
    throw new Error('damaged')
  })
  expect(reads.read([key('x')])).toBeNull()
})

it('[ENG-73] a read that starts after a write was acknowledged returns the written value, even if an earlier read of the same tick did not', async () => {
  const [before, after] = await new Promise<readonly [ReadSnapshot, ReadSnapshot]>((resolve) => {
    // A timer runs the test in a tick in which results of the thread arrive before the end of the busy loop.
    setTimeout(() => {
      const first = store.snapshot()
      void store.write([put('new', 'value')], false).then(() => resolve([first, store.snapshot()]))
      for (const end = performance.now() + 100; performance.now() < end; );
    }, 1)
  })
  expect(await before.get(key('new'))).toBeUndefined()
  expect((await after.get(key('new')))?.toString()).toBe('value')
  await Promise.all([before.close(), after.close()])
})
