import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import {
  BackupKey,
  createBackupKeyFile,
  parseBackupKey,
  readBackupKey,
} from '../../../src/capabilities/backups/object-sealer.ts'
import { parseKeep, pruneRepository } from '../../../src/capabilities/backups/prune.ts'
import { openRepository } from '../../../src/capabilities/backups/repository.ts'
import { restoreParts } from '../../../src/capabilities/backups/storage/restore.ts'
import { verifyRepository } from '../../../src/capabilities/backups/verify-repository.ts'
import { systemClock } from '../../../src/core/base/clock.ts'
import type { StoredPage } from '../../../src/core/store/engine.ts'
import { rangeOf } from '../../../src/core/store/key-encoding.ts'
import {
  backUp,
  changeStore,
  editDocuments,
  entryOf,
  fillStore,
  newFolder,
  openFolder,
  openTestRepository,
  partsOf,
  removeFolders,
  secretText,
  storedPairs,
  testKey,
  writePages,
} from '../../support/stores/backup-repository.ts'
import { listed } from '../../support/stores/object-store-suite.ts'

afterEach(removeFolders)

const quiet = () => undefined
const page = (...pairs: readonly (readonly [string, string])[]): StoredPage =>
  pairs.map(([key, value]) => [Buffer.from(key), Buffer.from(value)])

it('[BKP-2] a restored backup has every pair and the credentials, also values that are larger than a chunk', async () => {
  const [data, folder, target] = [await newFolder(), await newFolder(), join(await newFolder(), 'restored')]
  await fillStore(data, 20, 100_000)
  const large = randomBytes(6 * 2 ** 20)
  await changeStore(data, async ({ blobs, log }) => {
    await blobs.put(['versions', 'large'], large)
    await log.append(['tenant', 'acme', 'large'], 'create', [entryOf(randomBytes(4_500_000))])
  })
  const repository = await openTestRepository(openFolder(folder))
  const done = await backUp(repository, data)
  expect(done).toMatchObject({ newChunks: done.chunks, repairedChunks: 0 })
  const opened = await repository.open(null)
  const restored = await restoreParts(opened.parts(), target, opened.id)
  expect(restored).toEqual({ records: done.pairs, damaged: [], madeAt: done.at })
  expect(await storedPairs(target)).toEqual(await storedPairs(data))
  expect(readFileSync(join(target, 'credentials.json'))).toEqual(readFileSync(join(data, 'credentials.json')))
  await changeStore(target, async ({ blobs }) => {
    expect((await blobs.get(['versions', 'large'])) !== null).toBe(true)
    expect(large.equals((await blobs.get(['versions', 'large'])) as Uint8Array)).toBe(true)
  })
})

it('[BKP-3] a second backup writes only the chunks of changed documents', async () => {
  const [data, folder] = [await newFolder(), await newFolder()]
  await fillStore(data, 60, 100_000)
  const repository = await openTestRepository(openFolder(folder))
  const first = await backUp(repository, data)
  const unchanged = await backUp(repository, data)
  expect([unchanged.newChunks, unchanged.pairs]).toEqual([0, first.pairs])
  await editDocuments(data, [30])
  const second = await backUp(repository, data)
  const restored = join(await newFolder(), 'restored')
  await restoreParts((await repository.open(null)).parts(), restored, 'the second')
  expect(await storedPairs(restored)).toEqual(await storedPairs(data))
  console.log(
    `backup of ${first.bytes} bytes: ${first.chunks} chunks, ${first.newBytes} bytes; after one edit: ${second.newChunks} chunks, ${second.newBytes} bytes`,
  )
  expect(first.chunks).toBeGreaterThan(2)
  expect(second.newChunks).toBeLessThan(first.chunks)
  expect(second.newBytes).toBeLessThan(first.newBytes / 2)
})

it('[BKP-4] no object has stored texts, ids or secrets in clear text', async () => {
  const [data, folder] = [await newFolder(), await newFolder()]
  await fillStore(data, 20, 1_000)
  const store = openFolder(folder)
  await backUp(await openTestRepository(store), data)
  const objects = await listed(store, '')
  expect(objects.length).toBeGreaterThan(2)
  const markers = [secretText, 'acme', 'tenant', 'document-', 'user-1', 'credentials', 'secret']
  for (const { name } of objects) {
    const text = `${name} ${(await store.get(name))?.toString('latin1')}`
    expect([name, markers.filter((marker) => text.includes(marker))]).toEqual([name, []])
  }
  expect((await readdir(folder)).toSorted()).toEqual(['.partial', 'backups', 'chunks', 'locks', 'repository'])
})

it('[BKP-5] rejects another key, also if the object `repository` is missing, and writes nothing with it', async () => {
  const [folder, other] = [await newFolder(), new BackupKey(Buffer.alloc(32, 8))]
  const store = openFolder(folder)
  await writePages(await openTestRepository(store), [page(['a', '1'])], 1_000)
  const isOther = 'the key is not the key of the backup repository'
  for (const missing of ['create', 'refuse'] as const)
    await expect(openRepository(store, other, systemClock, missing)).rejects.toThrow(isOther)
  await store.delete('repository')
  await expect(openRepository(store, other, systemClock, 'create')).rejects.toThrow(
    'can read none of its backups',
  )
  expect(existsSync(join(folder, 'repository'))).toBe(false)
  const found = await openRepository(store, testKey, systemClock)
  expect([found.isRootDamaged, (await found.open(null)).at]).toEqual([true, 1_000])
  expect((await openTestRepository(store)).isRootDamaged).toBe(false)
  expect((await openRepository(store, testKey, systemClock)).isRootDamaged).toBe(false)
})

it('[BKP-5] a key file has 64 digits that only its owner can read, and is never replaced', async () => {
  const path = join(await newFolder(), 'key')
  await createBackupKeyFile(path)
  expect(readFileSync(path, 'utf8')).toMatch(/^[0-9a-f]{64}\n$/)
  await expect(createBackupKeyFile(path)).rejects.toThrow('cannot be written')
  const key = await readBackupKey(path)
  expect(key.checkOf('x')).toBe(
    parseBackupKey(readFileSync(path, 'utf8').toUpperCase(), 'option').checkOf('x'),
  )
  for (const text of ['', 'ab', 'z'.repeat(64), 'a'.repeat(65)])
    expect(() => parseBackupKey(text, 'the option')).toThrow(/^the option holds no backup key/)
})

it('[BKP-12] rejects a place without a repository, and a repository of another format', async () => {
  const store = openFolder(await newFolder())
  await expect(openRepository(store, testKey, systemClock)).rejects.toThrow('holds no backup repository')
  await openTestRepository(store)
  await expect((await openTestRepository(store)).open(null)).rejects.toThrow('has no backup')
  const root = JSON.parse(String(await store.get('repository'))) as { id: string; check: string }
  const { createHash } = await import('node:crypto')
  const sum = createHash('sha256').update(`2 ${root.id} ${root.check}`).digest('hex')
  await store.put('repository', Buffer.from(JSON.stringify({ ...root, format: 2, sum })))
  await expect(openTestRepository(store)).rejects.toThrow('has the format 2, this version knows 1')
})

it('[BKP-12] opens the newest backup at or before a time', async () => {
  const repository = await openTestRepository(openFolder(await newFolder()))
  for (const at of [3_000, 1_000, 2_000]) await writePages(repository, [page(['a', String(at)])], at)
  const atOf = async (at: number | null): Promise<number> => (await repository.open(at)).at
  expect([await atOf(null), await atOf(3_000), await atOf(2_999), await atOf(1_000)]).toEqual([
    3_000, 3_000, 2_000, 1_000,
  ])
  await expect(repository.open(999)).rejects.toThrow(
    'no backup of 1970-01-01T00:00:00.999Z or before; the oldest is of 1970-01-01T00:00:01.000Z',
  )
  expect((await repository.list()).map(({ at }) => at)).toEqual([3_000, 2_000, 1_000])
})

it('[BKP-12] reads only the chunks of ranges of keys', async () => {
  const repository = await openTestRepository(openFolder(await newFolder()))
  const pairs = Array.from({ length: 300 }, (_, index): StoredPage[number] => [
    Buffer.from(`key-${String(index).padStart(3, '0')}`),
    randomBytes(60_000),
  ])
  await writePages(repository, [pairs], 1_000)
  const opened = await repository.open(null)
  const read: string[] = []
  const ranges = ['10', '27'].map((start) => rangeOf(Buffer.from(`key-${start}`)))
  for await (const found of opened.pages({ ranges })) read.push(...found.map(([key]) => String(key)))
  const wanted = [100, 270].flatMap((first) => Array.from({ length: 10 }, (_, at) => `key-${first + at}`))
  expect(read.filter((key) => wanted.includes(key))).toEqual(wanted)
  expect(read.length).toBeLessThan(200)
  expect(opened.chunksRead).toBeLessThan(opened.manifest.chunks.length)
})

it('[BKP-9] a prune deletes expired backups and the chunks that no remaining backup needs', async () => {
  const store = openFolder(await newFolder())
  const repository = await openTestRepository(store)
  const day = 86_400_000
  const large = (name: string) => page([name, name.repeat(1_200_000)])
  for (let index = 1; index <= 5; index++)
    await writePages(
      repository,
      [large('a'), large(String(index + 1)).map(([, value]) => [Buffer.from('b'), value])],
      index * day,
    )
  expect(await listed(store, 'chunks/')).toHaveLength(6)
  const pruned = await pruneRepository(repository, { keep: parseKeep('2d'), dropDamaged: false })
  expect([pruned.removed.length, pruned.kept.length, pruned.removedChunks, pruned.damages]).toEqual([
    3,
    2,
    3,
    [],
  ])
  expect(await listed(store, 'chunks/')).toHaveLength(3)
  expect(await verifyRepository(repository, quiet)).toMatchObject({
    backups: 2,
    chunks: 3,
    damages: [],
    unusedChunks: 0,
  })
  const again = await pruneRepository(repository, { keep: parseKeep('2d'), dropDamaged: false })
  expect([again.removed, again.removedChunks]).toEqual([[], 0])
})

it('[BKP-13] a source that fails or ends early leaves no backup, and the next backup uses what it has written', async () => {
  const store = openFolder(await newFolder())
  const repository = await openTestRepository(store)
  const pages = Array.from({ length: 8 }, (_, index) =>
    page([`key-${index}`, String(index).repeat(1_500_000)]),
  )
  async function* failing(): AsyncGenerator<StoredPage> {
    yield* pages
    throw new Error('the disk is gone')
  }
  await expect(writePages(repository, failing(), 1_000)).rejects.toThrow('the disk is gone')
  expect([await repository.list(), await listed(store, 'locks/')]).toEqual([[], []])
  const found = await listed(store, 'chunks/')
  expect(found.length).toBeGreaterThan(2)
  expect((await verifyRepository(repository, quiet)).unusedChunks).toBe(found.length)
  const done = await writePages(repository, pages, 2_000)
  expect(done.newChunks).toBe(done.chunks - found.length)
})

it('[BKP-13] runs the last step of the source only when the manifest can be read', async () => {
  const repository = await openTestRepository(openFolder(await newFolder()))
  const seen: number[] = []
  async function* source() {
    yield* partsOf([page(['a', '1'])], 1_000)
    seen.push((await repository.list()).length)
  }
  const { writeToRepository } = await import('../../../src/capabilities/backups/write-backup.ts')
  const options = { verify: 'all', version: '0.0.0', onProgress: quiet } as const
  await writeToRepository(repository, source(), options)
  const controller = new AbortController()
  controller.abort()
  await expect(
    writeToRepository(repository, source(), { ...options, signal: controller.signal }),
  ).rejects.toThrow('the backup was interrupted')
  expect([seen, (await repository.list()).length]).toEqual([[1], 1])
})

it('[BKP-3] with verify `new`, reads no chunk that the newest backup has', async () => {
  const [data, folder] = [await newFolder(), await newFolder()]
  await fillStore(data, 40, 100_000)
  const store = openFolder(folder)
  const repository = await openTestRepository(store)
  const first = await backUp(repository, data)
  await editDocuments(data, [3])
  const gets: string[] = []
  const counted = await openTestRepository({
    name: store.name,
    put: (name, bytes) => store.put(name, bytes),
    get: (name) => {
      gets.push(name)
      return store.get(name)
    },
    list: (prefix) => store.list(prefix),
    delete: (name) => store.delete(name),
    removeIncomplete: () => store.removeIncomplete(),
  })
  const second = await backUp(counted, data, 'new')
  expect(gets.filter((name) => name.startsWith('chunks/'))).toHaveLength(second.newChunks)
  expect([second.newChunks < first.chunks, second.pairs]).toEqual([true, first.pairs + 1])
})
