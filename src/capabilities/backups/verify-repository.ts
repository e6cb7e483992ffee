import { type BackupDamage, chunkDamage, manifestDamage } from './backup-damage.ts'
import { type ChunkEntry, chunkLimits, chunkPrefix, parseChunkName } from './manifest.ts'
import { mapInOrder } from './map-in-order.ts'
import type { Repository } from './repository.ts'
import type { Progress } from './storage/storage-error.ts'

export interface RepositoryCheck {
  readonly backups: number
  /** Number of different chunks that were read, and the sizes of their objects in bytes. */
  readonly chunks: number
  readonly storedBytes: number
  readonly damages: readonly BackupDamage[]
  /** Chunks that no readable backup needs, for example of an interrupted backup. Prune deletes them. */
  readonly unusedChunks: number
  /** Whether the object `repository` is damaged. The next backup writes it again. */
  readonly isRootDamaged: boolean
}

/** A chunk, with the backups that need it. */
interface NeededChunk {
  readonly backups: string[]
  readonly entry: ChunkEntry
  /** First key of the next chunk in the first of these backups. */
  readonly nextKey: string | undefined
}

/**
 * Reads and checks the manifests and each chunk of all backups. Does not stop at damage.
 * @throws StorageError if the store cannot be used
 */
export async function verifyRepository(
  repository: Repository,
  onProgress: Progress,
): Promise<RepositoryCheck> {
  const { chunks, isRootDamaged } = repository
  const { needed, damages, backups } = await readNeeded(repository)
  const reads = mapInOrder(
    [...needed.values()],
    async ({ entry, nextKey, backups: users }) => {
      const read = await chunks.read(entry.digest, entry.storedBytes)
      return read.state === 'sound'
        ? { storedBytes: read.storedBytes, damage: null }
        : { storedBytes: 0, damage: chunkDamage(entry, nextKey, read.problem, users) }
    },
    { ...chunkLimits, bytesOf: ({ entry }) => entry.bytes },
  )
  let [done, storedBytes] = [0, 0]
  for await (const read of reads) {
    done += 1
    storedBytes += read.storedBytes
    if (read.damage !== null) damages.push(read.damage)
    onProgress('verify', done / needed.size)
  }
  let unusedChunks = 0
  for await (const { name } of repository.store.list(chunkPrefix)) {
    const digest = parseChunkName(name)
    if (digest !== null && !needed.has(digest)) unusedChunks += 1
  }
  return {
    backups,
    chunks: needed.size,
    storedBytes,
    damages: await ofExistingBackups(repository, damages),
    unusedChunks,
    isRootDamaged,
  }
}

async function readNeeded(repository: Repository): Promise<{
  readonly needed: ReadonlyMap<string, NeededChunk>
  readonly damages: BackupDamage[]
  readonly backups: number
}> {
  const needed = new Map<string, NeededChunk>()
  const damages: BackupDamage[] = []
  const names = await repository.list()
  for (const { id } of names) {
    const read = await repository.readManifest(id)
    if (read.state === 'damaged') {
      damages.push(manifestDamage(id, read.problem))
      continue
    }
    const list = read.manifest.chunks
    for (const [index, entry] of list.entries()) {
      const known = needed.get(entry.digest)
      if (known === undefined)
        needed.set(entry.digest, { backups: [id], entry, nextKey: list[index + 1]?.firstKey })
      else known.backups.push(id)
    }
  }
  return { needed, damages, backups: names.length }
}

/** Leaves out what a prune has deleted while the chunks were read. */
async function ofExistingBackups(
  repository: Repository,
  damages: readonly BackupDamage[],
): Promise<readonly BackupDamage[]> {
  if (damages.length === 0) return []
  const existing = new Set((await repository.list()).map(({ id }) => id))
  return damages
    .map((damage) => ({ ...damage, backups: damage.backups.filter((id) => existing.has(id)) }))
    .filter(({ backups }) => backups.length > 0)
}
