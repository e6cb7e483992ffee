import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { newestBackupAt, runBackupJob } from '../../../src/capabilities/backups/backup-job.ts'
import type { FolderStore } from '../../../src/capabilities/backups/folder-store.ts'
import { BackupKey } from '../../../src/capabilities/backups/object-sealer.ts'
import { parseKeep, pruneRepository } from '../../../src/capabilities/backups/prune.ts'
import { openRepository, type Repository } from '../../../src/capabilities/backups/repository.ts'
import { workspaceKeys, workspacesPart } from '../../../src/core/directory/tenants/workspace-keys.ts'
import type { StoredPage } from '../../../src/core/store/engine.ts'
import { encodeKey } from '../../../src/core/store/key-encoding.ts'
import { keyspaces, under } from '../../../src/core/store/pairs/keyspaces.ts'
import {
  newFolder,
  openFolder,
  openTestRepository,
  partsOf,
  removeFolders,
  testKey,
  writePages,
} from '../../support/stores/backup-repository.ts'
import { listed } from '../../support/stores/object-store-suite.ts'
import { HeldClock } from '../../support/time/clock.ts'

const pageOf = (text: string): StoredPage => [[Buffer.from('key'), Buffer.from(text)]]

let clock: HeldClock
let store: FolderStore
let repository: Repository

beforeEach(async () => {
  clock = new HeldClock()
  store = openFolder(await newFolder(), clock)
  repository = await openTestRepository(store, clock)
})

afterEach(removeFolders)

it.each(['missing', 'damaged'])(
  '[BKP-130] a prune with another key deletes nothing if the object `repository` is %s',
  async (state) => {
    await writePages(repository, [pageOf('a')], 1_000)
    if (state === 'missing') await store.delete('repository')
    else await store.put('repository', Buffer.from('{}'))
    const before = await listed(store, '')
    const other = await openRepository(store, new BackupKey(Buffer.alloc(32, 8)), clock)
    await expect(pruneRepository(other, { keep: null, dropDamaged: true })).rejects.toThrow(
      'the key can read none of the backups',
    )
    expect(await listed(store, '')).toEqual(before)
    const same = await openRepository(store, testKey, clock)
    expect(await pruneRepository(same, { keep: null, dropDamaged: true })).toMatchObject({ removed: [] })
  },
)

const day = 86_400_000

/** Makes a backup by a job that then prunes. */
const runJob = (text: string, madeAt: number, keep: string) =>
  runBackupJob(
    { to: store.name, key: testKey, keep: parseKeep(keep), verify: 'all', version: '0.0.0', clock },
    partsOf([pageOf(text)], madeAt),
    () => undefined,
  )

async function textAt(at: number | null): Promise<string> {
  const texts: string[] = []
  for await (const page of (await repository.open(at)).pages())
    texts.push(...page.map(([, value]) => Buffer.from(value).toString()))
  return texts.join()
}

it('[BKP-132] backups of a clock that was ahead displace no others, and are not the newest', async () => {
  const ahead = clock.now() + 365 * day
  for (let index = 0; index < 9; index++) await runJob(`ahead ${index}`, ahead + index * day, '7d')
  for (let index = 0; index < 3; index++) {
    const { backup, pruned } = await runJob(`now ${index}`, clock.now(), '7d')
    expect(pruned?.kept).toContain(backup.id)
    expect((await repository.list()).map(({ at }) => at)).toEqual([
      ...Array.from({ length: index + 1 }, (_, past) => clock.now() - past * day),
      ...Array.from({ length: 7 }, (_, past) => ahead + (8 - past) * day),
    ])
    expect(await textAt(null)).toBe(`now ${index}`)
    clock.advance(day)
  }
  expect([await textAt(ahead + 3 * day), await textAt(ahead)]).toEqual(['ahead 3', 'now 2'])
  clock.advance(ahead + 9 * day - clock.now())
  expect(await textAt(null)).toBe('ahead 8')
  expect(
    (await pruneRepository(repository, { keep: parseKeep('7d'), dropDamaged: false })).kept,
  ).toHaveLength(7)
})

it('[BKP-132] a job does not delete its backup if the source has an earlier time than the repository', async () => {
  await runJob('first', clock.now(), '1d')
  const { backup, pruned } = await runJob('late', clock.now() - 2 * day, '1d')
  expect(pruned).toMatchObject({ removed: [], kept: expect.arrayContaining([backup.id]) as unknown })
})

it('[BKP-145] a job reports that its place had no backup before', async () => {
  expect(await runJob('first', clock.now(), '1d')).toMatchObject({ isFirst: true })
  expect(await runJob('second', clock.now(), '1d')).toMatchObject({ isFirst: false })
})

it('[BKP-145] reading the time of the newest backup creates no repository', async () => {
  const to = join(await newFolder(), 'not-mounted')
  const job = { to, key: testKey, keep: null, verify: 'all', version: '0.0.0', clock } as const
  expect(await newestBackupAt(job)).toBeNull()
  expect(existsSync(to)).toBe(false)
})

it('[BKP-131] a prune deletes no file below `chunks` that has not the name of a chunk', async () => {
  const digest = 'ab'.repeat(32)
  const foreign = [
    'chunks/photos/holiday.jpg',
    `chunks/${digest}`,
    `chunks/cd/${digest}`,
    `chunks/ab/x/${digest}`,
  ]
  for (const name of foreign) {
    await mkdir(join(store.name, name, '..'), { recursive: true })
    await writeFile(join(store.name, name), 'x')
  }
  await writeFile(join(store.name, `chunks/ab/${digest}`), 'x')
  await writePages(repository, [pageOf('a')], 1_000)
  expect(await pruneRepository(repository, { keep: null, dropDamaged: false })).toMatchObject({
    removedChunks: 1,
  })
  for (const name of foreign) expect([name, existsSync(join(store.name, name))]).toEqual([name, true])
})

it('[BKP-134] rejects backups and chunks of another repository with the same key', async () => {
  await writePages(repository, [pageOf('a')], 1_000)
  const otherStore = openFolder(await newFolder(), clock)
  const other = await openTestRepository(otherStore, clock)
  await writePages(other, [pageOf('b')], 2_000)
  for (const prefix of ['backups/', 'chunks/'])
    for (const { name } of await listed(otherStore, prefix))
      await store.put(name, (await otherStore.get(name)) as Buffer)
  await expect(repository.open(null)).rejects.toThrow('the backup cannot be read')
  expect((await repository.open(1_000)).at).toBe(1_000)
  const { id } = JSON.parse(String(await store.get('repository'))) as { id: string }
  await store.delete('repository')
  await otherStore.delete('repository')
  await openTestRepository(otherStore, clock)
  for (const { name } of await listed(otherStore, 'backups/')) await store.delete(name)
  await openTestRepository(store, clock)
  expect(JSON.parse(String(await store.get('repository')))).toMatchObject({ id })
  expect(await textAt(null)).toBe('a')
})

/** A page with the record of a workspace. */
const workspacePage = (id: string): StoredPage => [
  [
    Buffer.concat([under(keyspaces.kv, encodeKey(workspacesPart)), encodeKey(workspaceKeys.workspace(id))]),
    Buffer.from('record'),
  ],
]

it('[BKP-135] rejects another store without `otherStore`, and keeps the backups of each store apart', async () => {
  const jobOf = (ids: readonly string[], otherStore: boolean) =>
    runBackupJob(
      {
        to: store.name,
        key: testKey,
        keep: parseKeep('1d'),
        verify: 'all',
        version: '0.0.0',
        clock,
        otherStore,
      },
      partsOf(ids.map(workspacePage), clock.now()),
      () => undefined,
    )
  const first = await jobOf(['one', 'two'], false)
  for (const ids of [['three'], []]) {
    clock.advance(day)
    await expect(jobOf(ids, false)).rejects.toThrow('is of another store')
  }
  expect(await listed(store, 'backups/')).toHaveLength(1)
  const other = await jobOf(['three'], true)
  expect(other.pruned).toMatchObject({ removed: [], kept: [other.backup.id, first.backup.id] })
  clock.advance(day)
  const next = await jobOf(['four', 'three'], false)
  expect(next.pruned).toMatchObject({ removed: [other.backup.id], kept: [next.backup.id, first.backup.id] })
})
