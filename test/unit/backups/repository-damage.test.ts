import { existsSync } from 'node:fs'
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import {
  type BackupDamage,
  BackupDamageError,
  damageText,
} from '../../../src/capabilities/backups/backup-damage.ts'
import type { FolderStore } from '../../../src/capabilities/backups/folder-store.ts'
import { parseKeep, pruneRepository } from '../../../src/capabilities/backups/prune.ts'
import type { Repository } from '../../../src/capabilities/backups/repository.ts'
import { restoreParts } from '../../../src/capabilities/backups/storage/restore.ts'
import { verifyRepository } from '../../../src/capabilities/backups/verify-repository.ts'
import type { StoredPage } from '../../../src/core/store/engine.ts'
import { seed } from '../../support/data/seed.ts'
import {
  newFolder,
  openFolder,
  openTestRepository,
  removeFolders,
  writePages,
} from '../../support/stores/backup-repository.ts'
import { listed } from '../../support/stores/object-store-suite.ts'

const quiet = () => undefined

/** Each pair is a chunk of its own. */
const chunkCount = 6
const pages = Array.from(
  { length: chunkCount },
  (_, index): StoredPage => [
    [Buffer.from(`h\0tenant\0acme\0doc-${index}`), Buffer.alloc(1_100_000, String(index))],
  ],
)

let sound: string
let store: FolderStore
let repository: Repository

beforeAll(async () => {
  sound = await mkdtemp(join(tmpdir(), 'weft-sound-'))
  await writePages(await openTestRepository(openFolder(sound)), pages, 1_000)
})

beforeEach(async () => {
  const folder = await newFolder()
  await cp(sound, folder, { recursive: true })
  store = openFolder(folder)
  repository = await openTestRepository(store)
})

afterEach(removeFolders)
afterAll(() => rm(sound, { recursive: true, force: true, maxRetries: 20 }))

type Harm = (bytes: Buffer) => Buffer | null

function changedAt(bytes: Buffer, at: number): Buffer {
  const changed = Buffer.from(bytes)
  changed[at] = (changed[at] as number) ^ (1 << (seed % 8))
  return changed
}

/** Each kind of damage, and the problem by which it is reported. */
const harms: Readonly<Record<string, readonly [BackupDamage['problem'], Harm]>> = {
  'a changed byte': ['changed', (bytes) => changedAt(bytes, seed % bytes.length)],
  'a changed id of its repository': ['changed', (bytes) => changedAt(bytes, 1 + (seed % 16))],
  'a changed last byte': ['changed', (bytes) => changedAt(bytes, bytes.length - 1)],
  'an added byte': ['changed', (bytes) => Buffer.concat([bytes, Buffer.of(0)])],
  'a cut end': ['truncated', (bytes) => bytes.subarray(0, -1)],
  'a cut to half': ['truncated', (bytes) => bytes.subarray(0, bytes.length / 2)],
  'a cut to nothing': ['truncated', () => Buffer.alloc(0)],
  'a missing object': ['missing', () => null],
}

async function harm(name: string, how: Harm): Promise<void> {
  const result = how((await store.get(name)) as Buffer)
  if (result === null) await store.delete(name)
  else await store.put(name, result)
}

const chunkAt = async (index: number): Promise<string> => {
  const { digest = '' } = (await repository.open(null)).manifest.chunks[index] ?? {}
  return `chunks/${digest.slice(0, 2)}/${digest}`
}

it.each(Object.entries(harms))(
  `[BKP-6] finds and names every chunk with %s, and restores nothing (seed ${seed})`,
  async (_, [problem, how]) => {
    const names = [await chunkAt(1), await chunkAt(4)]
    for (const name of names) await harm(name, how)
    const id = (await repository.list())[0]?.id
    const range = (index: number) => ({
      count: 1,
      from: `"h tenant acme doc-${index}"`,
      before: `"h tenant acme doc-${index + 1}"`,
    })
    const damages = [1, 4].map((index, at) => ({
      object: names[at],
      problem,
      backups: [id],
      records: range(index),
    }))
    expect((await verifyRepository(repository, quiet)).damages).toEqual(damages)
    const target = await newFolder()
    const opened = await repository.open(null)
    const error: unknown = await restoreParts(opened.parts(), target, opened.id).catch(
      (each: unknown) => each,
    )
    expect(error).toBeInstanceOf(BackupDamageError)
    expect(error).toMatchObject({
      damages,
      message: expect.stringContaining(`${names[1]} is ${problem}`) as string,
    })
    expect(await readdir(target)).toEqual([])
    const found: BackupDamage[] = []
    let pairs = 0
    for await (const page of opened.pages({ onDamage: (damage) => found.push(damage) })) pairs += page.length
    expect([found, pairs]).toEqual([damages, chunkCount - 2])
  },
)

it.each(Object.entries(harms))(
  `[BKP-6] finds and names a manifest with %s, and restores nothing of it (seed ${seed})`,
  async (title, [, how]) => {
    const [newest] = await repository.list()
    await writePages(repository, pages, 500)
    const object = `backups/${newest?.id}`
    await harm(object, how)
    const checked = await verifyRepository(repository, quiet)
    if (title === 'a missing object') {
      expect([checked.damages, (await repository.open(null)).at]).toEqual([[], 500])
      return
    }
    const damage = { object, problem: 'changed', backups: [newest?.id], records: null }
    expect(checked).toMatchObject({ backups: 2, chunks: chunkCount, damages: [damage] })
    await expect(repository.open(null)).rejects.toThrow(damageText(damage as BackupDamage))
    expect((await repository.open(999)).at).toBe(500)
  },
)

it('[BKP-6] rejects objects that have changed their places', async () => {
  const [first, second] = [await chunkAt(0), await chunkAt(1)]
  const [one, two] = [await store.get(first), await store.get(second)]
  await store.put(first, two as Buffer)
  await store.put(second, one as Buffer)
  const { damages } = await verifyRepository(repository, quiet)
  expect(damages.map(({ object, problem }) => [object, problem])).toEqual([
    [first, 'changed'],
    [second, 'changed'],
  ])
  const [newest] = await repository.list()
  const copy = 'backups/19700101T000009000Z-00000000'.replace('009000', '009.000')
  await store.put(copy, (await store.get(`backups/${newest?.id}`)) as Buffer)
  await expect(repository.open(null)).rejects.toThrow(`${copy} is changed`)
})

it('[BKP-7] the next backup finds damaged chunks that it needs, and writes them again', async () => {
  await harm(await chunkAt(0), (harms['a changed byte'] as [string, Harm])[1])
  await harm(await chunkAt(2), (harms['a cut end'] as [string, Harm])[1])
  await harm(await chunkAt(3), () => null)
  const done = await writePages(repository, pages, 2_000)
  expect([done.newChunks, done.repairedChunks]).toEqual([1, 2])
  expect((await verifyRepository(repository, quiet)).damages).toEqual([])
})

it('[BKP-7] with verify `new`, finds missing and truncated chunks, but not a changed byte', async () => {
  await harm(await chunkAt(0), (harms['a changed byte'] as [string, Harm])[1])
  await harm(await chunkAt(2), (harms['a cut end'] as [string, Harm])[1])
  await harm(await chunkAt(3), () => null)
  const done = await writePages(repository, pages, 2_000, 'new')
  expect([done.newChunks, done.repairedChunks]).toEqual([1, 1])
  expect((await verifyRepository(repository, quiet)).damages).toMatchObject([
    { object: await chunkAt(0), problem: 'changed', backups: [done.id, expect.any(String)] },
  ])
})

it('[BKP-7] a place that returns other bytes than it was given fails the backup, which then does not exist', async () => {
  const harmful = (prefix: string) =>
    openTestRepository({
      name: store.name,
      put: (name, bytes) =>
        store.put(
          name,
          name.startsWith(prefix) ? Buffer.from(bytes.with(40, 1 + (bytes[40] as number))) : bytes,
        ),
      get: (name) => store.get(name),
      list: (prefixOfList) => store.list(prefixOfList),
      delete: (name) => store.delete(name),
      removeIncomplete: () => store.removeIncomplete(),
    })
  const others = [[[Buffer.from('k'), Buffer.from('other')] as const]]
  await expect(writePages(await harmful('chunks/'), others, 2_000)).rejects.toThrow(
    /has not kept an object: chunks\/.* is changed after it was written/,
  )
  await expect(writePages(await harmful('backups/'), pages, 2_000)).rejects.toThrow(
    /has not kept an object: backups\/.* is changed after it was written/,
  )
  expect((await listed(store, 'backups/')).map(({ name }) => name.slice(8, 12))).toEqual(['1970'])
  expect((await repository.open(null)).at).toBe(1_000)
})

it('[BKP-14] a prune deletes no chunk while a manifest is damaged, and counts that backup for no rule', async () => {
  const [damaged] = await repository.list()
  const others = pages.map(([pair]) => [[pair?.[0] as Buffer, Buffer.alloc(1_100_000, 'x')] as const])
  await writePages(repository, others, 500)
  await harm(`backups/${damaged?.id}`, (bytes) => bytes.subarray(1))
  const pruned = await pruneRepository(repository, { keep: parseKeep('1d'), dropDamaged: false })
  expect(pruned).toMatchObject({ removed: [], removedChunks: 0, damages: [{ backups: [damaged?.id] }] })
  expect(pruned.kept).toHaveLength(1)
  const dropped = await pruneRepository(repository, { keep: null, dropDamaged: true })
  expect(dropped).toMatchObject({ removed: [damaged?.id], removedChunks: chunkCount, damages: [] })
  expect((await verifyRepository(repository, quiet)).damages).toEqual([])
  expect(existsSync(join(store.name, 'repository'))).toBe(true)
})
