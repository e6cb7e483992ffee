import { createHash, randomBytes } from 'node:crypto'
import * as v from 'valibot'
import type { Clock } from '../clock.ts'
import { MalformedJsonError, readJsonOrNull } from '../json.ts'
import { StorageError } from '../storage/storage-error.ts'
import { BackupDamageError, manifestDamage } from './backup-damage.ts'
import type { BackupKey } from './backup-key.ts'
import { ChunkObjects, type ObjectProblem } from './chunk-objects.ts'
import {
  type BackupName,
  backupObjectName,
  isAhead,
  type Manifest,
  manifestPrefix,
  parseBackupName,
  readManifest,
} from './manifest.ts'
import { ObjectSealer } from './object-sealer.ts'
import type { ObjectStore } from './object-store.ts'
import { OpenedBackup } from './opened-backup.ts'
import { RepositoryLock } from './repository-lock.ts'

const rootName = 'repository'
const formatNow = 1

const rootSchema = v.looseObject({
  format: v.pipe(v.number(), v.safeInteger()),
  id: v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/)),
  /** Text by which the key is recognized. */
  check: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  /** SHA-256 of the other members, so that damage is not taken for a wrong key. */
  sum: v.string(),
})
type RepositoryRoot = v.InferOutput<typeof rootSchema>

const sumOf = ({ format, id, check }: Pick<RepositoryRoot, 'format' | 'id' | 'check'>): string =>
  createHash('sha256').update(`${format} ${id} ${check}`).digest('hex')

/** Result of reading a manifest. */
export type ManifestRead =
  | { readonly state: 'sound'; readonly manifest: Manifest }
  | { readonly state: 'damaged'; readonly problem: ObjectProblem }

/**
 * Encrypted backups of one or more servers in an object store, which share their chunks. Objects:
 * `repository` (format and key check), `backups/<id>` (one manifest for each backup),
 * `chunks/<2 digits>/<digest>`, and `locks/<id>`.
 */
export class Repository {
  readonly store: ObjectStore
  readonly sealer: ObjectSealer
  readonly chunks: ChunkObjects
  readonly clock: Clock
  /** Whether the object `repository` is missing or damaged. The backups are readable without it. */
  readonly isRootDamaged: boolean

  constructor(store: ObjectStore, sealer: ObjectSealer, clock: Clock, isRootDamaged: boolean) {
    this.store = store
    this.sealer = sealer
    this.chunks = new ChunkObjects(store, sealer)
    this.clock = clock
    this.isRootDamaged = isRootDamaged
  }

  /**
   * Returns the names of all backups, the newest first. Those with times in the future are last.
   * @throws StorageError
   */
  async list(): Promise<readonly BackupName[]> {
    const found: BackupName[] = []
    for await (const { name } of this.store.list(manifestPrefix)) {
      const parsed = parseBackupName(name)
      if (parsed !== null) found.push(parsed)
    }
    const now = this.clock.now()
    return [
      ...newestFirst(found.filter((each) => !isAhead(each, now))),
      ...newestFirst(found.filter((each) => isAhead(each, now))),
    ]
  }

  /** @throws StorageError if the store cannot be used, or if a newer version of Weft wrote the backup */
  async readManifest(id: string): Promise<ManifestRead> {
    const name = backupObjectName(id)
    const bytes = await this.store.get(name)
    if (bytes === null) return { state: 'damaged', problem: 'missing' }
    const json = await this.sealer.unseal(name, bytes)
    if (json === null) return { state: 'damaged', problem: 'changed' }
    try {
      return { state: 'sound', manifest: readManifest(json) }
    } catch (cause) {
      if (!(cause instanceof MalformedJsonError)) throw cause
      // The key has authenticated these bytes, so Weft wrote them.
      throw new StorageError(
        `the backup ${id} has a format that this version does not know: ${cause.message}`,
      )
    }
  }

  /**
   * Opens the newest backup at or before a time.
   * @param at epoch milliseconds; null for the newest backup, except those with times in the future if there are
   *   others
   * @throws BackupDamageError if its manifest is damaged; StorageError if there is none
   */
  async open(at: number | null): Promise<OpenedBackup> {
    const names = await this.list()
    const found = at === null ? names[0] : newestFirst(names).find((each) => each.at <= at)
    if (found === undefined) throw noBackup(this.store.name, at, newestFirst(names).at(-1))
    const read = await this.readManifest(found.id)
    if (read.state === 'damaged')
      throw new BackupDamageError(found.id, [manifestDamage(found.id, read.problem)])
    return new OpenedBackup(read.manifest, this.chunks)
  }
}

const newestFirst = (names: readonly BackupName[]): readonly BackupName[] =>
  names.toSorted((a, b) => (a.id < b.id ? 1 : -1))

function noBackup(name: string, at: number | null, oldest: BackupName | undefined): StorageError {
  if (at === null || oldest === undefined) return new StorageError(`${name} has no backup`)
  const time = (ms: number): string => new Date(ms).toISOString()
  return new StorageError(
    `${name} has no backup of ${time(at)} or before; the oldest is of ${time(oldest.at)}`,
  )
}

/**
 * Opens a repository.
 * @param missing `create`: writes the object `repository` if it is missing or damaged
 * @throws StorageError if there is no repository, or if the key is not its key
 */
export async function openRepository(
  store: ObjectStore,
  key: BackupKey,
  clock: Clock,
  missing: 'create' | 'refuse' = 'refuse',
): Promise<Repository> {
  const root = await readRoot(store)
  if (root === null && missing === 'create') await createRoot(store, key, clock)
  const repository = new Repository(
    store,
    await ObjectSealer.of(key),
    clock,
    root === null && missing === 'refuse',
  )
  if (root === null && missing === 'refuse' && (await repository.list()).length === 0)
    throw new StorageError(`${store.name} holds no backup repository`)
  if (root !== null && root.check !== key.checkOf(root.id))
    throw new StorageError(`the key is not the key of the backup repository ${store.name}`)
  return repository
}

/** Returns null if the object is missing or damaged. */
async function readRoot(store: ObjectStore): Promise<RepositoryRoot | null> {
  const bytes = await store.get(rootName)
  const root = bytes === null ? null : readJsonOrNull(rootSchema, bytes)
  if (root === null || root.sum !== sumOf(root)) return null
  if (root.format !== formatNow)
    throw new StorageError(
      `${store.name} has the format ${root.format}, this version knows ${formatNow}: use the version that made it`,
    )
  return root
}

async function createRoot(store: ObjectStore, key: BackupKey, clock: Clock): Promise<void> {
  await expectKeyOfBackups(store, key, clock)
  const lock = await RepositoryLock.take(store, clock, 'creation of the repository')
  try {
    const found = await readRoot(store)
    if (found !== null && found.check !== key.checkOf(found.id))
      throw new StorageError(`the key is not the key of the backup repository ${store.name}`)
    if (found !== null) return
    const id = randomBytes(16).toString('hex')
    const root = { format: formatNow, id, check: key.checkOf(id) }
    await store.put(rootName, Buffer.from(`${JSON.stringify({ ...root, sum: sumOf(root) })}\n`))
  } finally {
    await lock.release()
  }
}

/** If the object `repository` was lost, checks that the key can read at least one backup. */
async function expectKeyOfBackups(store: ObjectStore, key: BackupKey, clock: Clock): Promise<void> {
  const repository = new Repository(store, await ObjectSealer.of(key), clock, true)
  const names = await repository.list()
  for (const { id } of names) if ((await repository.readManifest(id)).state === 'sound') return
  if (names.length > 0)
    throw new StorageError(
      `the object ${rootName} of ${store.name} is damaged, and the key can read none of its backups`,
    )
}
