import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../../core/base/clock.ts'
import { MalformedJsonError, readJsonOrNull } from '../../core/base/json.ts'
import * as s from '../../core/base/schema.ts'
import { BackupDamageError, manifestDamage } from './backup-damage.ts'
import {
  type BackupName,
  backupObjectName,
  ChunkObjects,
  isAhead,
  type Manifest,
  manifestPrefix,
  type ObjectProblem,
  parseBackupName,
  readManifest,
} from './manifest.ts'
import { type BackupKey, ObjectSealer, statedRepositoryId } from './object-sealer.ts'
import type { ObjectStore } from './object-store.ts'
import { OpenedBackup } from './opened-backup.ts'
import { RepositoryLock } from './repository-lock.ts'
import { StorageError } from './storage/storage-error.ts'

const rootName = 'repository'
const formatNow = 1

const rootSchema = s.object({
  format: s.integer(Number.MIN_SAFE_INTEGER),
  id: s.pattern(/^[0-9a-f]{32}$/),
  /** Text by which the key is recognized. */
  check: s.pattern(/^[0-9a-f]{64}$/),
  /** SHA-256 of the other members, so that damage is not taken for a wrong key. */
  sum: s.string,
})
type RepositoryRoot = s.TypeOf<typeof rootSchema>

const sumOf = ({ format, id, check }: Pick<RepositoryRoot, 'format' | 'id' | 'check'>): string =>
  createHash('sha256').update(`${format} ${id} ${check}`).digest('hex')

type ManifestRead =
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
   * Returns the names of all backups, the newest first. Backups with times in the future are last.
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
  const created = async (): Promise<RepositoryRoot | null> =>
    missing === 'create' ? createRoot(store, key, clock) : null
  const root = (await readRoot(store)) ?? (await created())
  if (root !== null && root.check !== key.checkOf(root.id))
    throw new StorageError(`the key is not the key of the backup repository ${store.name}`)
  const found = root === null ? await idOfBackups(store, key) : { id: root.id, backups: 0 }
  if (root === null && found.backups === 0) throw new StorageError(`${store.name} holds no backup repository`)
  // Without an id, all backups are damaged, or their key is another one.
  const sealer = await ObjectSealer.of(key, found.id ?? newId())
  return new Repository(store, sealer, clock, root === null)
}

const newId = (): string => randomBytes(16).toString('hex')

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

/** Writes the object `repository`. If it was lost, it gets the id that the backups have. */
async function createRoot(store: ObjectStore, key: BackupKey, clock: Clock): Promise<RepositoryRoot> {
  const found = await idOfBackups(store, key)
  if (found.id === null && found.backups > 0)
    throw new StorageError(
      `the object ${rootName} of ${store.name} is damaged, and the key can read none of its backups`,
    )
  const lock = await RepositoryLock.take(store, clock, 'creation of the repository')
  try {
    const existing = await readRoot(store)
    if (existing !== null) return existing
    const id = found.id ?? newId()
    const root = { format: formatNow, id, check: key.checkOf(id) }
    const created = { ...root, sum: sumOf(root) }
    await store.put(rootName, Buffer.from(`${JSON.stringify(created)}\n`))
    return created
  } finally {
    await lock.release()
  }
}

/** Returns the id of the repository that its manifests state, if the key can read at least one of them. */
async function idOfBackups(
  store: ObjectStore,
  key: BackupKey,
): Promise<{ readonly id: string | null; readonly backups: number }> {
  let backups = 0
  for await (const { name } of store.list(manifestPrefix)) {
    if (parseBackupName(name) === null) continue
    backups += 1
    const bytes = await store.get(name)
    const id = bytes === null ? null : statedRepositoryId(bytes)
    if (bytes === null || id === null) continue
    if ((await (await ObjectSealer.of(key, id)).unseal(name, bytes)) !== null) return { id, backups }
  }
  return { id: null, backups }
}
