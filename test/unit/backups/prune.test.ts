import { afterEach, beforeEach, expect, it } from 'vitest'
import { BackupKey } from '../../../src/backups/backup-key.ts'
import type { FolderStore } from '../../../src/backups/folder-store.ts'
import { pruneRepository } from '../../../src/backups/prune.ts'
import { openRepository, type Repository } from '../../../src/backups/repository.ts'
import type { StoredPage } from '../../../src/engine/engine.ts'
import {
  newFolder,
  openFolder,
  openTestRepository,
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
