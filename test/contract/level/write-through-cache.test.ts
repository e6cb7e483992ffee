import { expect, it } from 'vitest'
import { known, WriteThroughCache } from '../../../src/core/store/level/store/write-through-cache.ts'

/** A cache whose own reads return `loaded`. */
function cacheOf(idleMax: number) {
  const loads: string[] = []
  const cache = new WriteThroughCache<string, string>(async (key) => {
    loads.push(key)
    return 'loaded'
  }, idleMax)
  return { cache, loads }
}

it('[ENG-82] the cache uses the value that a load of the document reads, and does not read it again', async () => {
  const { cache, loads } = cacheOf(10)
  let finish = (_value: string): void => {}
  cache.share('a', 'a', () => new Promise((resolve) => (finish = resolve)))
  const cell = cache.pin('a', () => 'a')
  finish('shared')
  await cell.ready
  expect(known(cell)).toBe('shared')
  expect(loads).toEqual([])
})

it('[ENG-82] the cache keeps a written value when a load then reads an older one', async () => {
  const { cache } = cacheOf(10)
  const cell = cache.hold('a', 'a', 'written')
  cache.share('a', 'a', async () => 'older')
  await Promise.resolve()
  expect(known(cell)).toBe('written')
})

it('[ENG-82] the cache reads the value itself if the load has failed', async () => {
  const { cache, loads } = cacheOf(10)
  cache.share('a', 'a', () => Promise.reject(new Error('unreadable')))
  await new Promise((resolve) => setImmediate(resolve))
  const cell = cache.pin('a', () => 'a')
  await cell.ready
  expect(known(cell)).toBe('loaded')
  expect(loads).toEqual(['a'])
})
