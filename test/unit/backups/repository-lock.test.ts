import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { hostname } from 'node:os'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { FolderStore } from '../../../src/capabilities/backups/folder-store.ts'
import { parseKeep, pruneRepository } from '../../../src/capabilities/backups/prune.ts'
import type { Repository } from '../../../src/capabilities/backups/repository.ts'
import {
  lockObserveMs,
  lockRenewMs,
  lockStaleMs,
  RepositoryLock,
} from '../../../src/capabilities/backups/repository-lock.ts'
import { StorageError } from '../../../src/capabilities/backups/storage/storage-error.ts'
import { verifyRepository } from '../../../src/capabilities/backups/verify-repository.ts'
import type { StoredPage } from '../../../src/core/store/engine.ts'
import { eventually } from '../../support/clients/clients.ts'
import {
  newFolder,
  openFolder,
  openTestRepository,
  removeFolders,
  writePages,
} from '../../support/stores/backup-repository.ts'
import { listed } from '../../support/stores/object-store-suite.ts'
import { HeldClock } from '../../support/time/clock.ts'

let store: FolderStore
let repository: Repository
let clock: HeldClock

beforeEach(async () => {
  clock = new HeldClock()
  store = openFolder(await newFolder(), clock)
  repository = await openTestRepository(store, clock)
})

afterEach(removeFolders)

const pageOf = (name: string): StoredPage => [[Buffer.from(name), Buffer.alloc(1_500_000, name)]]

/** A backup that waits after its first chunk. */
function heldBackup() {
  let finish = (): void => undefined
  const promise = new Promise<void>((resolve) => {
    finish = resolve
  })
  async function* pages(): AsyncGenerator<StoredPage> {
    yield pageOf('a')
    yield pageOf('b')
    await promise
    yield pageOf('c')
  }
  const done = writePages(repository, pages(), 5_000)
  done.catch(() => undefined)
  return { done, finish: () => finish() }
}

const inProgress = () => eventually(async () => (await listed(store, 'chunks/')).length > 0)

it('[BKP-10] while a backup is written, rejects a second backup and a prune, and names the process', async () => {
  const held = heldBackup()
  await inProgress()
  const inUse = `the repository is in use: a backup of process ${process.pid} on ${hostname()} since 2023-11-14T22:13:20.000Z`
  await expect(writePages(repository, [pageOf('x')], 6_000)).rejects.toThrow(inUse)
  await expect(pruneRepository(repository, { keep: parseKeep('1d'), dropDamaged: false })).rejects.toThrow(
    inUse,
  )
  held.finish()
  await held.done
  expect(await verifyRepository(repository, () => undefined)).toMatchObject({
    backups: 1,
    damages: [],
    unusedChunks: 0,
  })
  expect(await listed(store, 'locks/')).toEqual([])
  await writePages(repository, [pageOf('x')], 6_000)
})

it('[BKP-10] gives the lock to one of several processes that ask at the same time', async () => {
  const asked = Array.from({ length: 4 }, () => RepositoryLock.take(store, clock, 'backup'))
  const results = await Promise.allSettled(asked)
  const taken = results.filter((result) => result.status === 'fulfilled')
  expect(taken.length).toBeLessThanOrEqual(1)
  for (const { value } of taken) await value.release()
  expect(await listed(store, 'locks/')).toEqual([])
})

it('[BKP-10] a lock that is renewed lasts; without renewals it is stale after an hour, and its holder stops before', async () => {
  const held = heldBackup()
  await inProgress()
  for (let passed = 0; passed < 2 * lockStaleMs; passed += lockRenewMs) {
    const before = String(await store.get((await listed(store, 'locks/'))[0]?.name as string))
    clock.advance(lockRenewMs)
    await eventually(
      async () => String(await store.get((await listed(store, 'locks/'))[0]?.name as string)) !== before,
    )
    await eventually(() => clock.pending > 0)
  }
  await expect(RepositoryLock.take(store, clock, 'prune')).rejects.toThrow('is in use')
  // The process stands still for an hour, and one of another machine takes over.
  const others = new HeldClock(clock.now() + lockStaleMs + 1)
  await moveLocks()
  const taken = RepositoryLock.take(store, others, 'prune')
  await eventually(() => others.pending > 0)
  others.advance(lockObserveMs)
  await (await taken).release()
  held.finish()
  await expect(held.done).rejects.toThrow('was lost')
  expect(await repository.list()).toEqual([])
})

/** Changes all locks to locks of another machine. */
async function moveLocks(): Promise<void> {
  for (const { name } of await listed(store, 'locks/')) {
    const record = JSON.parse(String(await store.get(name))) as object
    await store.put(name, Buffer.from(JSON.stringify({ ...record, system: 'another machine' })))
  }
}

it('[BKP-133] a process whose clock is ahead takes no lock that is renewed', async () => {
  const held = heldBackup()
  await inProgress()
  const others = new HeldClock(clock.now() + 2 * lockStaleMs)
  await moveLocks()
  const [{ name } = { name: '' }] = await listed(store, 'locks/')
  const before = String(await store.get(name))
  const taken = RepositoryLock.take(store, others, 'prune')
  taken.catch(() => undefined)
  await eventually(() => others.pending > 0)
  clock.advance(lockRenewMs)
  await eventually(async () => String(await store.get(name)) !== before)
  others.advance(lockObserveMs)
  await expect(taken).rejects.toThrow('is in use')
  held.finish()
  await held.done
})

it('[BKP-133] a signal ends the wait for a lock that seems old', async () => {
  const lock = await RepositoryLock.take(store, clock, 'backup')
  await moveLocks()
  const others = new HeldClock(clock.now() + 2 * lockStaleMs)
  const stop = new AbortController()
  const taken = RepositoryLock.take(store, others, 'prune', stop.signal)
  taken.catch(() => undefined)
  await eventually(() => others.pending > 0)
  stop.abort()
  await expect(taken).rejects.toThrow('was interrupted')
  expect(others.pending).toBe(0)
  await lock.release()
})

it('[BKP-133] the lock of a running process of this machine is never stale', async () => {
  const lock = await RepositoryLock.take(store, clock, 'backup')
  const [{ name } = { name: '' }] = await listed(store, 'locks/')
  const record = JSON.parse(String(await store.get(name))) as object
  const others = new HeldClock(clock.now() + 2 * lockStaleMs)
  await expect(RepositoryLock.take(store, others, 'prune')).rejects.toThrow('is in use')
  await lock.release()
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'])
  const of = (changed: object) => Buffer.from(JSON.stringify({ ...record, pid: child.pid, ...changed }))
  await store.put('locks/other', of({ processStart: '' }))
  await expect(RepositoryLock.take(store, others, 'prune')).rejects.toThrow('is in use')
  // An earlier process had the same number.
  await store.put('locks/other', of({ processStart: '1' }))
  await (await RepositoryLock.take(store, others, 'prune')).release()
  // This process has not deleted a lock of its own.
  await store.put(name, Buffer.from(JSON.stringify(record)))
  await (await RepositoryLock.take(store, others, 'prune')).release()
  child.kill()
  await once(child, 'close')
})

it('[BKP-133] a clock that is set back does not prolong a lock', async () => {
  const lock = await RepositoryLock.take(store, clock, 'backup')
  clock.advance(-2 * lockStaleMs)
  lock.check()
  const later = performance.now() + lockStaleMs
  const read = vi.spyOn(performance, 'now').mockReturnValue(later)
  try {
    expect(() => lock.check()).toThrow('was lost')
  } finally {
    read.mockRestore()
  }
  await lock.release()
})

it('[BKP-133] a prune that has lost its lock ends before the next batch of deletions', async () => {
  const unused = Array.from({ length: 30 }, (_, index) => `${index + 10}`.repeat(32))
  for (const digest of unused) await store.put(`chunks/${digest.slice(0, 2)}/${digest}`, Buffer.of(1))
  const losing = openFolder(store.name, clock)
  const remove = losing.delete.bind(losing)
  losing.delete = async (name) => {
    if (name.startsWith('chunks/'))
      for (const lock of await listed(store, 'locks/')) await store.delete(lock.name)
    await remove(name)
  }
  const pruned = pruneRepository(await openTestRepository(losing, clock), { keep: null, dropDamaged: false })
  await expect(pruned).rejects.toThrow('was lost')
  expect((await listed(store, 'chunks/')).length).toBeGreaterThanOrEqual(20)
})

it('[BKP-10] takes over the lock of a process of this machine that is not running', async () => {
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'close')
  const lock = await RepositoryLock.take(store, clock, 'backup')
  const [{ name } = { name: '' }] = await listed(store, 'locks/')
  const record = JSON.parse(String(await store.get(name))) as object
  await lock.release()
  const of = (changed: object) => Buffer.from(JSON.stringify({ ...record, ...changed }))
  await store.put('locks/other', of({ pid: child.pid, system: 'another machine' }))
  await expect(RepositoryLock.take(store, clock, 'prune')).rejects.toThrow('is in use')
  await store.put('locks/other', of({ pid: child.pid }))
  await (await RepositoryLock.take(store, clock, 'prune')).release()
  await store.put('locks/other', Buffer.from('no lock'))
  await (await RepositoryLock.take(store, clock, 'prune')).release()
  expect(await listed(store, 'locks/')).toEqual([])
})

/** A folder behind a network: while it is down, `put` and `delete` of locks fail, `put` after it has written. */
class UnsureStore extends FolderStore {
  isDown = false

  override async put(name: string, bytes: Uint8Array): Promise<void> {
    await super.put(name, bytes)
    this.#fail(name)
  }

  override async delete(name: string): Promise<void> {
    this.#fail(name)
    await super.delete(name)
  }

  #fail(name: string): void {
    if (this.isDown && name.startsWith('locks/')) throw new StorageError('the network is down')
  }
}

it('[BKP-143] a lock that could not be deleted does not block its own process', async () => {
  const folder = await newFolder()
  const unsure = new UnsureStore(folder, clock)
  const lock = await RepositoryLock.take(unsure, clock, 'backup')
  unsure.isDown = true
  await expect(lock.release()).rejects.toThrow('the network is down')
  // The lock is ignored while it cannot be deleted, and is deleted later, also by another store of the folder.
  await expect(RepositoryLock.take(unsure, clock, 'backup')).rejects.toThrow('the network is down')
  expect(await listed(unsure, 'locks/')).toHaveLength(2)
  const next = await RepositoryLock.take(openFolder(folder, clock), clock, 'backup')
  expect(await listed(unsure, 'locks/')).toHaveLength(1)
  // A lock that is held still blocks.
  await expect(RepositoryLock.take(openFolder(folder, clock), clock, 'prune')).rejects.toThrow('is in use')
  await next.release()
  expect(await listed(unsure, 'locks/')).toEqual([])
})

it('[BKP-143] a lock that appears after its process has given it up does not block the process', async () => {
  const lock = await RepositoryLock.take(store, clock, 'backup')
  const [{ name } = { name: '' }] = await listed(store, 'locks/')
  const late = (await store.get(name)) as Buffer
  await lock.release()
  await store.put(name, late)
  await (await RepositoryLock.take(store, clock, 'backup')).release()
  expect(await listed(store, 'locks/')).toEqual([])
})
