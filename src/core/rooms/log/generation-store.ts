import {
  type Archive,
  copyClientMin,
  decodeArchive,
  encodeArchive,
  Generations,
} from '../../content/generations/generations.ts'
import { addressKey, type DocumentAddress } from '../../model/address.ts'
import { type Blobs, CorruptRecordError, type Key } from '../../store/engine.ts'

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

  /** Returns the generations of a document with these clocks. A document that was never pruned takes no read. */
  async load(address: DocumentAddress, clocks: ReadonlyMap<number, number>): Promise<Generations> {
    const clients = [...clocks.keys()].filter((client) => client >= copyClientMin).sort((a, b) => a - b)
    const found = await Promise.all(clients.map((client) => this.#blobs.get(keyOf(address, client, 'ids'))))
    return new Generations(found.flatMap((bytes) => (bytes === null ? [] : [decodeArchive(bytes)])))
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
    for (;;) {
      const keys = await this.#blobs.list([space, ...prefix], { limit: listedMax })
      for (const key of keys) await this.#blobs.delete(key)
      if (keys.length < listedMax) return
      await goOn?.()
    }
  }
}

const keyOf = (address: DocumentAddress, client: number, part: 'ids' | 'items'): Key => [
  space,
  ...addressKey(address),
  String(client),
  part,
]
