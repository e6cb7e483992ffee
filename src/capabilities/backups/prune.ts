import { type KeepRule, readKeepRule } from '../../core/config/backup-options.ts'
import { type BackupDamage, manifestDamage } from './backup-damage.ts'
import {
  type BackupName,
  backupObjectName,
  chunkPrefix,
  isAhead,
  parseChunkName,
  StoreIdentity,
} from './manifest.ts'
import type { Repository } from './repository.ts'
import { RepositoryLock } from './repository-lock.ts'
import { StorageError } from './storage/storage-error.ts'

/** Parses a rule such as `7d,4w,12m`. @throws StorageError */
export function parseKeep(text: string): KeepRule {
  const rule = readKeepRule(text)
  if (rule !== undefined) return rule
  throw new StorageError(
    `${JSON.stringify(text)} is not a rule for keeping backups; expected numbers of days, weeks, months and years, such as 7d,4w,12m`,
  )
}

const dayMs = 86_400_000

/** Names of the periods in UTC that contain a time. Weeks start on Monday. */
const periods: Readonly<Record<keyof KeepRule, (at: number) => string>> = {
  d: (at) => new Date(at).toISOString().slice(0, 10),
  // The first Monday of the epoch was on day 4.
  w: (at) => String(Math.floor((at / dayMs - 4) / 7)),
  m: (at) => new Date(at).toISOString().slice(0, 7),
  y: (at) => new Date(at).toISOString().slice(0, 4),
}

/**
 * Returns the ids of the backups to keep: the newest one, and the newest one of each of the last days, weeks,
 * months and years that have a backup. Periods without a backup do not count, so a pause deletes nothing.
 * Backups with times in the future count apart until then, so they do not displace others.
 * @param now epoch milliseconds
 */
export function keptBackups(
  backups: readonly BackupName[],
  rule: KeepRule,
  now: number,
): ReadonlySet<string> {
  const past = backups.filter((each) => !isAhead(each, now))
  const ahead = backups.filter((each) => isAhead(each, now))
  return new Set([...keptOf(past, rule), ...keptOf(ahead, rule)])
}

function keptOf(backups: readonly BackupName[], rule: KeepRule): ReadonlySet<string> {
  const newestFirst = backups.toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
  const kept = new Set(newestFirst.slice(0, 1).map(({ id }) => id))
  for (const unit of ['d', 'w', 'm', 'y'] as const) {
    const seen = new Set<string>()
    for (const { id, at } of newestFirst) {
      const period = periods[unit](at)
      if (seen.has(period)) continue
      if (seen.size === rule[unit]) break
      seen.add(period)
      kept.add(id)
    }
  }
  return kept
}

interface PruneOptions {
  /** The backups to keep; null to keep all, and to delete only unused objects. */
  readonly keep: KeepRule | null
  /** Whether to delete manifests that are damaged. While there are any, no chunk is deleted. */
  readonly dropDamaged: boolean
  /** Id of a backup that remains in any case. */
  readonly made?: string
  /** Ends the prune with an error before its next deletion. Its lock is released. */
  readonly signal?: AbortSignal | undefined
}

export interface Pruned {
  /** Ids of the deleted and the remaining backups, the newest first. */
  readonly removed: readonly string[]
  readonly kept: readonly string[]
  readonly removedChunks: number
  readonly removedBytes: number
  /** Number of deleted remains of interrupted writes. */
  readonly removedPartial: number
  /** The manifests that cannot be read. If there are any, chunks were not deleted: a backup may need them. */
  readonly damages: readonly BackupDamage[]
}

const deletesAtOnce = 8

/**
 * Deletes the backups that a rule does not keep, and then the chunks that no backup needs. The rule applies to the
 * backups of each store apart. Damaged backups do not count for it.
 * @throws StorageError, also if another process has the lock, or if `dropDamaged` is set and no manifest
 *   is readable
 */
export async function pruneRepository(
  repository: Repository,
  { keep, dropDamaged, made, signal }: PruneOptions,
): Promise<Pruned> {
  const { store, clock } = repository
  const lock = await RepositoryLock.take(store, clock, 'prune', signal)
  const check = (): void => {
    lock.check()
    if (signal?.aborted === true) throw new StorageError('the prune was interrupted')
  }
  const confirm = async (): Promise<void> => {
    check()
    await lock.confirm()
  }
  try {
    const { sound, damages } = await readManifests(repository, check)
    // Another key finds every manifest damaged.
    if (dropDamaged && sound.length === 0 && damages.length > 0)
      throw new StorageError(`the key can read none of the backups of ${store.name}; nothing was deleted`)
    const dropped = dropDamaged ? damages : []
    const names = sound.map(({ name }) => name)
    const byRule = keep === null ? names.map(({ id }) => id) : keptOfStores(sound, keep, clock.now())
    const keptIds = new Set([...byRule, ...(made === undefined ? [] : [made])])
    const expired = names.filter(({ id }) => !keptIds.has(id)).map(({ id }) => backupObjectName(id))
    // Manifests first: if this is interrupted, no backup lacks a chunk.
    const removedNames = [...expired, ...dropped.map(({ object }) => object)]
    await deleteAll(repository, confirm, removedNames)
    const remaining = damages.filter((damage) => !dropped.includes(damage))
    const used = new Set(sound.filter(({ name }) => keptIds.has(name.id)).flatMap(({ digests }) => digests))
    const unused = remaining.length > 0 ? [] : await unusedChunks(repository, used)
    await deleteAll(
      repository,
      confirm,
      unused.map(({ name }) => name),
    )
    return {
      removed: removedNames.map((name) => name.slice(backupObjectName('').length)),
      kept: names.filter(({ id }) => keptIds.has(id)).map(({ id }) => id),
      removedChunks: unused.length,
      removedBytes: unused.reduce((sum, { size }) => sum + size, 0),
      removedPartial: await store.removeIncomplete(),
      damages: remaining,
    }
  } finally {
    await lock.release().catch(() => undefined)
  }
}

/** Applies a rule to the backups of each store apart. */
function keptOfStores(backups: readonly BackupChunks[], keep: KeepRule, now: number): readonly string[] {
  const stores: { readonly identity: StoreIdentity; readonly names: BackupName[] }[] = []
  for (const { name, workspaces } of backups) {
    let store = stores.find(({ identity }) => identity.isOf(workspaces))
    if (store === undefined) {
      store = { identity: new StoreIdentity(), names: [] }
      stores.push(store)
    }
    store.identity.add(workspaces)
    store.names.push(name)
  }
  return stores.flatMap(({ names }) => [...keptBackups(names, keep, now)])
}

interface BackupChunks {
  readonly name: BackupName
  readonly workspaces: readonly string[]
  readonly digests: readonly string[]
}

/** Reads one manifest after the other, and keeps only the digests of its chunks. */
async function readManifests(
  repository: Repository,
  check: () => void,
): Promise<{ readonly sound: readonly BackupChunks[]; readonly damages: readonly BackupDamage[] }> {
  const sound: BackupChunks[] = []
  const damages: BackupDamage[] = []
  /** One string for each digest, however many backups have it. */
  const shared = new Map<string, string>()
  const sharedOf = (digest: string): string => {
    if (!shared.has(digest)) shared.set(digest, digest)
    return shared.get(digest) as string
  }
  for (const name of await repository.list()) {
    check()
    const read = await repository.readManifest(name.id)
    if (read.state === 'damaged') damages.push(manifestDamage(name.id, read.problem))
    else {
      const { workspaces, chunks } = read.manifest
      sound.push({ name, workspaces, digests: chunks.map(({ digest }) => sharedOf(digest)) })
    }
  }
  return { sound, damages }
}

async function unusedChunks(
  { store }: Repository,
  used: ReadonlySet<string>,
): Promise<readonly { readonly name: string; readonly size: number }[]> {
  const unused = []
  for await (const object of store.list(chunkPrefix)) {
    const digest = parseChunkName(object.name)
    if (digest !== null && !used.has(digest)) unused.push(object)
  }
  return unused
}

/** @param confirm called before each batch of deletions */
async function deleteAll(
  { store }: Repository,
  confirm: () => Promise<void>,
  names: readonly string[],
): Promise<void> {
  for (let at = 0; at < names.length; at += deletesAtOnce) {
    await confirm()
    const batch = names.slice(at, at + deletesAtOnce)
    const deleted = await Promise.allSettled(batch.map((name) => store.delete(name)))
    for (const result of deleted) if (result.status === 'rejected') throw result.reason
  }
}
