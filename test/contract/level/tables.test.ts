import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { crc32c, findTableDamage } from '../../../src/core/store/level/files/table-check.ts'
import { openLevelStore } from '../../../src/core/store/level/store/store.ts'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { times } from '../../support/time/full-run.ts'
import { flipped } from './store-tools.ts'

const random = new Random(seed)
const pairs = 2_000

let directory: string
let path: string
let sound: Buffer

/**
 * One table that LevelDB has written, with some hundred blocks and an index that is long enough to be
 * compressed.
 */
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'weft-tables-'))
  const store = await openLevelStore(directory)
  const value = (): Buffer => Buffer.from(Array.from({ length: 500 }, () => random.below(256)))
  const put = (index: number) => ({ key: Buffer.from(`a long key ${10_000 + index}`), value: value() })
  await store.write(
    Array.from({ length: pairs }, (_, index) => put(index)),
    false,
  )
  await store.compactTables()
  await store.close()
  const [name, ...others] = (await readdir(directory)).filter((each) => each.endsWith('.ldb'))
  if (name === undefined || others.length > 0) throw new Error('not one table')
  path = join(directory, name)
  sound = await readFile(path)
})

afterAll(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }))

async function problemOf(bytes: Buffer, depth: 'structure' | 'all'): Promise<string | null> {
  const changed = join(directory, 'changed.ldb')
  await writeFile(changed, bytes)
  return (await findTableDamage(changed, depth))?.problem ?? null
}

const isTold = expect.stringMatching(/^changed\.ldb is damaged \(.+\): data may be lost$/)

/** Bytes at the end without any data: the filter has ten bits for each key. */
const searchedBytes = (pairs * 10) / 8

it('[STORE-7] computes the CRC-32C values of RFC 3720, B.4', () => {
  expect(crc32c(Buffer.alloc(32)).toString(16)).toBe('8a9136aa')
  expect(crc32c(Buffer.alloc(32, 0xff)).toString(16)).toBe('62a8ab43')
  expect(crc32c(Buffer.from(Array.from({ length: 32 }, (_, index) => index))).toString(16)).toBe('46dd794e')
})

it('[STORE-7] reports no damage for a table that LevelDB wrote, and no damage for a missing table', async () => {
  expect(await findTableDamage(path, 'structure')).toBe(null)
  expect(await findTableDamage(path, 'all')).toBe(null)
  expect(await findTableDamage(join(directory, 'none.ldb'), 'all')).toBe(null)
})

it(`[STORE-7] finds a changed byte at any place when it checks a whole table (seed ${seed})`, async () => {
  for (let round = 0; round < times(40, 200); round++) {
    const at = random.below(sound.length)
    expect(await problemOf(flipped(sound, at), 'all'), `byte ${at}`).toEqual(isTold)
  }
})

it(`[STORE-7] finds a changed byte of footer, index and filter without reading the data (seed ${seed})`, async () => {
  const footer = Array.from({ length: 48 }, (_, index) => index)
  const others = Array.from({ length: times(40, 200) }, () => random.below(searchedBytes))
  for (const before of [...footer, ...others]) {
    const at = sound.length - 1 - before
    expect(await problemOf(flipped(sound, at), 'structure'), `byte ${at}`).toEqual(isTold)
  }
})

it(`[STORE-7] finds a truncated or extended table without reading the data (seed ${seed})`, async () => {
  for (let round = 0; round < times(15, 50); round++) {
    const cut = random.below(sound.length)
    expect(await problemOf(sound.subarray(0, cut), 'structure'), `cut at ${cut}`).toEqual(isTold)
  }
  expect(await problemOf(Buffer.concat([sound, Buffer.from([0])]), 'structure')).toEqual(isTold)
  expect(await problemOf(Buffer.concat([Buffer.alloc(64), sound]), 'structure')).toEqual(isTold)
})
