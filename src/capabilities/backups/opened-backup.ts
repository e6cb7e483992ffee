import type { StoredPage } from '../../core/store/engine.ts'
import type { ByteRange } from '../../core/store/key-encoding.ts'
import { type BackupDamage, BackupDamageError, chunkDamage } from './backup-damage.ts'
import { type ChunkEntry, type ChunkObjects, chunkLimits, type Manifest } from './manifest.ts'
import { mapInOrder } from './map-in-order.ts'
import { PairSum } from './pair-slices.ts'
import type { BackupHeader, BackupPart } from './storage/backup-file.ts'
import { StorageError } from './storage/storage-error.ts'

interface PageOptions {
  /**
   * Called for each damaged chunk, which is then left out. Without it, the sound pages are read first, and
   * then BackupDamageError is thrown.
   */
  readonly onDamage?: (damage: BackupDamage) => void
  /** Read only the chunks that may contain keys of these ranges. Their pages may also contain other keys. */
  readonly ranges?: readonly ByteRange[] | undefined
  /** Called with the completed part of the work, from 0 to 1. */
  readonly onProgress?: (share: number) => void
}

/** One backup of a repository, whose manifest was read. */
export class OpenedBackup {
  readonly id: string
  /** Time of the backup, in epoch milliseconds. */
  readonly at: number
  readonly manifest: Manifest
  readonly #chunks: ChunkObjects
  /** Indexes of the chunks that were read. */
  readonly #read = new Set<number>()

  constructor(manifest: Manifest, chunks: ChunkObjects) {
    this.id = manifest.id
    this.at = manifest.header.madeAt
    this.manifest = manifest
    this.#chunks = chunks
  }

  get header(): BackupHeader {
    return this.manifest.header
  }

  /** Number of chunks that were read so far. */
  get chunksRead(): number {
    return this.#read.size
  }

  /** The small files of the data directory. */
  get files(): readonly { readonly name: string; readonly bytes: Uint8Array }[] {
    return this.manifest.files.map(({ name, content }) => ({ name, bytes: Buffer.from(content, 'base64') }))
  }

  /**
   * Yields the pairs in the order of their keys. Reads all wanted chunks even if some are damaged.
   * @throws BackupDamageError; StorageError if the store cannot be used
   */
  async *pages({ onDamage, ranges, onProgress }: PageOptions = {}): AsyncGenerator<StoredPage> {
    const { chunks, sum } = this.manifest
    const damages: BackupDamage[] = []
    const read = new PairSum()
    const wanted = [...chunks.keys()].filter(
      (index) => ranges?.some((range) => this.#hasKeysOf(index, range)) ?? true,
    )
    const pages = mapInOrder(
      wanted,
      async (index) => {
        const entry = chunks[index] as ChunkEntry
        this.#read.add(index)
        const read = await this.#chunks.read(entry.digest, entry.storedBytes)
        return { entry, nextKey: chunks[index + 1]?.firstKey, read }
      },
      { ...chunkLimits, bytesOf: (index) => chunks[index]?.bytes ?? 0 },
    )
    let done = 0
    for await (const page of pages) {
      done += 1
      onProgress?.(done / wanted.length)
      if (page.read.state === 'sound') {
        await read.add(page.read.pairs)
        yield page.read.pairs
        continue
      }
      const damage = chunkDamage(page.entry, page.nextKey, page.read.problem, [this.id])
      damages.push(damage)
      onDamage?.(damage)
    }
    if (damages.length > 0 && onDamage === undefined) throw new BackupDamageError(this.id, damages)
    if (damages.length === 0 && wanted.length === chunks.length && read.end() !== sum)
      throw new StorageError(`the backup ${this.id} is damaged: its records do not have its sum`)
  }

  /** Yields the same parts as a backup file. @throws as `pages` */
  async *parts(options: PageOptions = {}): AsyncGenerator<BackupPart> {
    yield { kind: 'header', header: this.header }
    for (const file of this.files) yield { kind: 'file', ...file }
    let count = 0
    for await (const pairs of this.pages(options)) {
      count += pairs.length
      yield { kind: 'pairs', pairs }
    }
    yield { kind: 'end', pairs: count }
  }

  /** Returns whether a chunk may contain keys of a range. Its keys are before the first key of the next chunk. */
  #hasKeysOf(index: number, { gte, lt }: ByteRange): boolean {
    const first = this.#firstKey(index)
    const next = this.#firstKey(index + 1)
    if (next !== null && Buffer.compare(next, gte) <= 0) return false
    return first === null || Buffer.compare(first, lt) < 0
  }

  #firstKey(index: number): Buffer | null {
    const chunk = this.manifest.chunks[index]
    return chunk === undefined ? null : Buffer.from(chunk.firstKey, 'base64')
  }
}
