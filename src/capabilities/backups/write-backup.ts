import type { StoredPage } from '../../core/store/engine.ts'
import {
  backupObjectName,
  type ChunkEntry,
  chunkLimits,
  chunkName,
  chunkPrefix,
  type Manifest,
  newBackupId,
  parseChunkName,
  StoreIdentity,
  workspacesIn,
} from './manifest.ts'
import { mapInOrder } from './map-in-order.ts'
import { cutChunks, encodePairsInSlices, PairSum } from './pair-slices.ts'
import type { Repository } from './repository.ts'
import { RepositoryLock } from './repository-lock.ts'
import type { BackupHeader, BackupPart } from './storage/backup-file.ts'
import { type Progress, StorageError } from './storage/storage-error.ts'

export interface BackupOptions {
  /**
   * `all`: reads every chunk of the backup from the repository, and writes the damaged ones again. `new`: reads
   * the new chunks, and compares the sizes of the others.
   */
  readonly verify: 'all' | 'new'
  /** Version of Weft. */
  readonly version: string
  /** Whether to accept that the newest backup is of another store. */
  readonly otherStore?: boolean
  readonly onProgress: Progress
  /** Ends the backup with an error. Its lock is released. */
  readonly signal?: AbortSignal | undefined
}

/** A complete and verified backup. Sizes are those of the plain content; `newBytes` is the size of objects. */
export interface RepositoryBackup {
  readonly id: string
  readonly at: number
  readonly pairs: number
  readonly bytes: number
  readonly chunks: number
  readonly newChunks: number
  readonly newBytes: number
  /** Number of chunks that were damaged in the repository and are sound again. */
  readonly repairedChunks: number
}

/**
 * Writes a backup to a repository: the chunks that it does not have, then the manifest. Needs memory for a few
 * chunks, or for the largest pair. After an error, the repository has no trace except unused chunks. The last
 * step of `parts` runs only if the backup is complete.
 * @throws StorageError, also if another process has the lock; the errors of `parts`
 */
export async function writeToRepository(
  repository: Repository,
  parts: AsyncIterable<BackupPart>,
  options: BackupOptions,
): Promise<RepositoryBackup> {
  const lock = await RepositoryLock.take(repository.store, repository.clock, 'backup', options.signal)
  const source = parts[Symbol.asyncIterator]()
  try {
    const done = await new BackupRun(repository, lock, options).run(source)
    await source.next()
    return done
  } finally {
    await source.return?.(undefined)
    // A lock that cannot be deleted becomes stale.
    await lock.release().catch(() => undefined)
  }
}

interface StoredChunk {
  readonly entry: ChunkEntry
  readonly state: 'new' | 'repaired' | 'present'
  /** The pairs as the repository returned them; for a chunk that was not read, the original pairs. */
  readonly pairs: StoredPage
}

class BackupRun {
  readonly #repository: Repository
  readonly #lock: RepositoryLock
  readonly #options: BackupOptions
  /** Sizes of the chunks in the repository by digest, and the sizes that the newest backup has recorded. */
  readonly #present = new Map<string, number>()
  readonly #recorded = new Map<string, number>()
  #header: BackupHeader | null = null
  readonly #files: { name: string; content: string }[] = []
  readonly #given = new PairSum()
  readonly #identity = new StoreIdentity()

  constructor(repository: Repository, lock: RepositoryLock, options: BackupOptions) {
    this.#repository = repository
    this.#lock = lock
    this.#options = options
  }

  async run(source: AsyncIterator<BackupPart>): Promise<RepositoryBackup> {
    await this.#readPresent()
    const entries: ChunkEntry[] = []
    const kept = new PairSum()
    const count = { bytes: 0, newBytes: 0, newChunks: 0, repairedChunks: 0 }
    const stored = mapInOrder(cutChunks(this.#pages(source)), (pairs) => this.#storeChunk(pairs), {
      ...chunkLimits,
      bytesOf: (pairs) => pairs.reduce((sum, [key, value]) => sum + key.length + value.length, 0),
    })
    for await (const { entry, state, pairs } of stored) {
      entries.push(entry)
      await kept.add(pairs)
      count.bytes += entry.bytes
      if (state === 'new') count.newChunks += 1
      if (state === 'repaired') count.repairedChunks += 1
      if (state !== 'present') count.newBytes += entry.storedBytes
      this.#options.onProgress(`write ${Math.floor(count.bytes / 2 ** 20)} MB`, 0)
    }
    const [pairs, sum] = [kept.pairs, kept.end()]
    if (sum !== this.#given.end() || this.#header === null)
      throw new StorageError('the backup could not be verified: the repository returns other records')
    // The header of an earlier version does not have the workspaces.
    await this.#expectSameStore(this.#identity)
    const manifest: Manifest = {
      format: 1,
      id: newBackupId(this.#header.madeAt),
      version: this.#options.version,
      header: { format: this.#header.format, madeAt: this.#header.madeAt },
      workspaces: [...this.#identity.ids],
      files: this.#files,
      chunks: entries,
      pairs,
      bytes: count.bytes,
      sum,
    }
    const manifestBytes = await this.#writeManifest(manifest)
    return {
      id: manifest.id,
      at: this.#header.madeAt,
      pairs,
      ...count,
      newBytes: count.newBytes + manifestBytes,
      chunks: entries.length,
    }
  }

  /** Yields the pairs of the source, and takes its other parts. Ends at the end part, without closing. */
  async *#pages(source: AsyncIterator<BackupPart>): AsyncGenerator<StoredPage> {
    for (;;) {
      this.#check()
      const { done, value: part } = await source.next()
      if (done === true) throw new StorageError('the backup is not complete: the source has ended early')
      if (part.kind === 'header') await this.#begin(part.header)
      if (part.kind === 'file')
        this.#files.push({ name: part.name, content: Buffer.from(part.bytes).toString('base64') })
      if (part.kind === 'end') return
      if (part.kind !== 'pairs') continue
      await this.#given.add(part.pairs)
      this.#identity.add(workspacesIn(part.pairs))
      yield part.pairs
    }
  }

  /** @throws StorageError if the store is another one */
  async #begin(header: BackupHeader): Promise<void> {
    this.#header = header
    if (header.workspaces === undefined) return
    const stated = new StoreIdentity()
    stated.add(header.workspaces)
    await this.#expectSameStore(stated)
  }

  /** Compares the store with that of the newest readable backup. @throws StorageError */
  async #expectSameStore(identity: StoreIdentity): Promise<void> {
    if (this.#options.otherStore === true) return
    for (const { id } of await this.#repository.list()) {
      const read = await this.#repository.readManifest(id)
      if (read.state !== 'sound') continue
      if (identity.isOf(read.manifest.workspaces)) return
      throw new StorageError(
        `the newest backup of ${this.#repository.store.name} is of another store: it has none of these workspaces`,
        { hint: 'use another place; to continue with this store, make one backup with --other-store' },
      )
    }
  }

  async #readPresent(): Promise<void> {
    for await (const { name, size } of this.#repository.store.list(chunkPrefix)) {
      const digest = parseChunkName(name)
      if (digest !== null) this.#present.set(digest, size)
    }
    if (this.#options.verify === 'all') return
    const [newest] = await this.#repository.list()
    const read = newest === undefined ? null : await this.#repository.readManifest(newest.id)
    if (read?.state !== 'sound') return
    for (const { digest, storedBytes } of read.manifest.chunks) this.#recorded.set(digest, storedBytes)
  }

  async #storeChunk(pairs: StoredPage): Promise<StoredChunk> {
    const { chunks, sealer, store } = this.#repository
    const content = await encodePairsInSlices(pairs)
    const digest = await sealer.digestOf(content)
    const firstKey = Buffer.from(pairs[0]?.[0] ?? []).toString('base64')
    const entry = { digest, firstKey, pairs: pairs.length, bytes: content.length }
    const size = this.#present.get(digest)
    if (size !== undefined && this.#recorded.get(digest) === size)
      return { entry: { ...entry, storedBytes: size }, state: 'present', pairs }
    if (size !== undefined) {
      const found = await chunks.read(digest, size)
      if (found.state === 'sound')
        return { entry: { ...entry, storedBytes: found.storedBytes }, state: 'present', pairs: found.pairs }
    }
    this.#check()
    const storedBytes = await chunks.write(digest, content)
    const written = await chunks.read(digest, storedBytes)
    if (written.state === 'damaged')
      throw new StorageError(
        `${store.name} has not kept an object: ${chunkName(digest)} is ${written.problem} after it was written`,
      )
    const state = size === undefined ? 'new' : 'repaired'
    return { entry: { ...entry, storedBytes }, state, pairs: written.pairs }
  }

  /** Writes the manifest and reads it again. Returns the size of the object. */
  async #writeManifest(manifest: Manifest): Promise<number> {
    const { sealer, store } = this.#repository
    const name = backupObjectName(manifest.id)
    const json = Buffer.from(JSON.stringify(manifest))
    const bytes = await sealer.seal(name, json)
    await this.#lock.confirm()
    await store.put(name, bytes)
    const kept = await store.get(name)
    const content = kept === null ? null : await sealer.unseal(name, kept)
    if (content?.equals(json) === true) return bytes.length
    await store.delete(name)
    throw new StorageError(`${store.name} has not kept an object: ${name} is changed after it was written`)
  }

  #check(): void {
    this.#lock.check()
    if (this.#options.signal?.aborted === true) throw new StorageError('the backup was interrupted')
  }
}
