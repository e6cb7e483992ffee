import {
  type Archive,
  copyClientMin,
  decodeArchive,
  encodeArchive,
  Generations,
} from '../../content/generations/generations.ts'
import { addressKey, type DocumentAddress } from '../../model/address.ts'
import { type Blobs, CorruptRecordError, type Key } from '../../store/engine.ts'
import { blobKeyPages } from '../../store/pages.ts'

/** Maximum number of keys that one list returns. */
const listedMax = 200

const space = 'generations'

/**
 * Stores what prunes and rebases have replaced, as blobs. A blob is stored before the update that replaces the content.
 * It counts only if the document has the client id of the copies, so that it needs no transaction with the log.
 */
export class GenerationStore {
  readonly #blobs: Blobs

  constructor(blobs: Blobs) {
    this.#blobs = blobs
  }

  /**
   * Returns the generations of a document with these clocks. A document without client ids of copies takes no read. All
   * others take one list, because clients may choose such ids too.
   */
  async load(address: DocumentAddress, clocks: ReadonlyMap<number, number>): Promise<Generations> {
    const archives: Archive[] = []
    if ([...clocks.keys()].every((client) => client < copyClientMin)) return new Generations(archives)
    for await (const keys of this.#pages(addressKey(address))) {
      const present = keys.filter((key) => key.at(-1) === 'ids' && clocks.has(Number(key.at(-2))))
      for (const bytes of await Promise.all(present.map((key) => this.#blobs.get(key))))
        if (bytes !== null) archives.push(decodeArchive(bytes))
    }
    return new Generations(archives.sort((a, b) => a.client - b.client))
  }

  /**
   * Returns the items of the archives with these client ids; null if they have more than `bytesMax`.
   * @throws CorruptRecordError if they are missing
   */
  async itemsOf(
    address: DocumentAddress,
    clients: readonly number[],
    bytesMax: number,
  ): Promise<ReadonlyMap<number, Uint8Array> | null> {
    const found = new Map<number, Uint8Array>()
    let bytes = 0
    for (const client of clients) {
      const items = await this.#blobs.get(keyOf(address, client, 'items'))
      if (items === null) throw new CorruptRecordError('the items of an earlier generation are missing')
      bytes += items.length
      if (bytes > bytesMax) return null
      found.set(client, items)
    }
    return found
  }

  /** Stores an archive and its items. */
  async add(address: DocumentAddress, archive: Archive, items: Uint8Array): Promise<void> {
    await this.#blobs.put(keyOf(address, archive.client, 'items'), items)
    await this.#blobs.put(keyOf(address, archive.client, 'ids'), encodeArchive(archive))
  }

  /**
   * Removes the blobs of the documents whose keys start with a prefix.
   * @param goOn called between two steps; throws if the work must end
   */
  async remove(prefix: Key, goOn?: () => Promise<void>): Promise<void> {
    for await (const keys of this.#pages(prefix)) {
      for (const key of keys) await this.#blobs.delete(key)
      await goOn?.()
    }
  }

  #pages(prefix: Key): AsyncGenerator<readonly Key[]> {
    return blobKeyPages(this.#blobs, [space, ...prefix], listedMax)
  }
}

const keyOf = (address: DocumentAddress, client: number, part: 'ids' | 'items'): Key => [
  space,
  ...addressKey(address),
  String(client),
  part,
]
