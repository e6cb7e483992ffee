import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FolderStore } from '../../../src/capabilities/backups/folder-store.ts'
import { BackupKey } from '../../../src/capabilities/backups/object-sealer.ts'
import type { ObjectStore } from '../../../src/capabilities/backups/object-store.ts'
import { openRepository, type Repository } from '../../../src/capabilities/backups/repository.ts'
import { backupParts } from '../../../src/capabilities/backups/storage/backup.ts'
import type { BackupPart } from '../../../src/capabilities/backups/storage/backup-file.ts'
import { lastBackupIn } from '../../../src/capabilities/backups/storage/last-backup.ts'
import { openForReading } from '../../../src/capabilities/backups/storage/offline-store.ts'
import { type RepositoryBackup, writeToRepository } from '../../../src/capabilities/backups/write-backup.ts'
import { type Clock, systemClock } from '../../../src/core/base/clock.ts'
import type { Engine, StoreDump, StoredPage } from '../../../src/core/store/engine.ts'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'

const folders: string[] = []

/** Creates a folder that `removeFolders` removes. */
export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'weft-repository-'))
  folders.push(folder)
  return folder
}

export async function removeFolders(): Promise<void> {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true, maxRetries: 20 })
}

export const testKey = new BackupKey(Buffer.alloc(32, 7))

export const openFolder = (folder: string, clock: Clock = systemClock): FolderStore =>
  new FolderStore(folder, clock)

export const openTestRepository = (store: ObjectStore, clock: Clock = systemClock): Promise<Repository> =>
  openRepository(store, testKey, clock, 'create')

/** Backs up the stopped store in a data directory. */
export async function backUp(
  repository: Repository,
  directory: string,
  verify: 'all' | 'new' = 'all',
): Promise<RepositoryBackup> {
  const engine = await openForReading(directory)
  try {
    const { kv } = engine
    const origin = { directory, kv, lastBackup: lastBackupIn(directory), clock: repository.clock }
    return await writeToRepository(repository, backupParts(dumpOf(engine), origin), {
      verify,
      version: '0.0.0',
      onProgress: () => undefined,
    })
  } finally {
    await engine.close()
  }
}

function dumpOf(engine: Engine): StoreDump {
  const dump = engine.dump()
  if (dump === null) throw new Error('an engine without a dump')
  return dump
}

/** Yields the parts of a backup of the given pages. */
export async function* partsOf(
  pages: AsyncIterable<StoredPage> | Iterable<StoredPage>,
  madeAt: number,
): AsyncGenerator<BackupPart> {
  yield { kind: 'header', header: { format: 2, madeAt } }
  let pairs = 0
  for await (const page of pages) {
    pairs += page.length
    yield { kind: 'pairs', pairs: page }
  }
  yield { kind: 'end', pairs }
}

/** Writes a backup of pages, and returns its result. */
export const writePages = (
  repository: Repository,
  pages: AsyncIterable<StoredPage> | Iterable<StoredPage>,
  madeAt: number,
  verify: 'all' | 'new' = 'all',
): Promise<RepositoryBackup> =>
  writeToRepository(repository, partsOf(pages, madeAt), {
    verify,
    version: '0.0.0',
    onProgress: () => undefined,
  })

export const documentKey = (index: number) => ['tenant', 'acme', `document-${String(index).padStart(5, '0')}`]

/** Text that occurs in every document of `fillStore`. */
export const secretText = 'a-text-that-only-users-may-read'

/**
 * Creates a store with documents of random bytes, values and a credentials file in a data directory.
 * @param bytes size of each document
 */
export async function fillStore(directory: string, documents: number, bytes: number): Promise<void> {
  const engine = await openLevelEngine({ directory, durability: 'process' })
  const value = Buffer.from(secretText)
  await Promise.all(
    Array.from({ length: documents }, async (_, index) => {
      await engine.log.append(documentKey(index), 'create', [entryOf(randomBytes(bytes))])
      await engine.kv.commit(['names'], { puts: [{ key: [`document-${index}`], value }] })
    }),
  )
  await engine.close()
  await writeFile(join(directory, 'credentials.json'), `{"secret":"${secretText}"}`, { mode: 0o600 })
}

export const entryOf = (bytes: Uint8Array) => ({
  bytes: Buffer.concat([Buffer.from(secretText), bytes]),
  by: 'user-1',
})

/** Opens the store of a data directory, changes it, and closes it. */
export async function changeStore(
  directory: string,
  change: (engine: Engine) => Promise<void>,
): Promise<void> {
  const engine = await openLevelEngine({ directory, durability: 'process' })
  await change(engine)
  await engine.close()
}

/** Appends one edit to each of the given documents. */
export const editDocuments = (directory: string, indexes: readonly number[]): Promise<void> =>
  changeStore(directory, async ({ log }) => {
    for (const index of indexes) await log.append(documentKey(index), 1, [entryOf(randomBytes(50))])
  })

/** Returns the key and the digest of the value of each pair of the stopped store in a data directory, as text. */
export async function storedPairs(directory: string): Promise<readonly string[]> {
  const engine = await openForReading(directory)
  const found: string[] = []
  for await (const page of dumpOf(engine).pages)
    for (const [key, value] of page)
      found.push(`${Buffer.from(key).toString('hex')} ${createHash('sha256').update(value).digest('hex')}`)
  await engine.close()
  return found
}
