import type { Key, Kv, KvEntry, KvRange } from '../../engine/engine.ts'
import { keyName } from '../../engine/key-encoding.ts'
import { checkedRecord, decodeRecord, type RecordType } from './records.ts'

/**
 * Maximum number of records that a reader caches. The least recently used records are evicted, and are read
 * again when they are needed.
 */
const cachedRecordsMax = 1_000

/** Reads records and entries of one partition. */
export interface DirectoryReader {
  /**
   * Returns the record at `key`; null if it does not exist. If `type` is given, checks that the record
   * matches the type.
   * @throws MalformedJsonError if the record does not match the type
   */
  get<R extends object>(key: Key, type?: RecordType<R>): Promise<R | null>
  /** Like `get` for several keys, but with only one read. The records are in the order of the keys. */
  getAll<R extends object>(keys: readonly Key[], type?: RecordType<R>): Promise<readonly (R | null)[]>
  /** Returns the stored entries of a range. */
  scan(range: KvRange): Promise<readonly KvEntry[]>
}

/** Reads a partition for one call. Caches the records that it has read, and does not read them again. */
export class CachingDirectoryReader implements DirectoryReader {
  readonly #kv: Kv
  readonly #part: Key
  /** Cached records, sorted by their last use: the most recently used record is last. */
  readonly #cache = new Map<string, object | null>()

  constructor(kv: Kv, part: Key) {
    this.#kv = kv
    this.#part = part
  }

  async get<R extends object>(key: Key, type?: RecordType<R>): Promise<R | null> {
    const [record = null] = await this.getAll<R>([key], type)
    return record
  }

  async getAll<R extends object>(keys: readonly Key[], type?: RecordType<R>): Promise<readonly (R | null)[]> {
    const names = keys.map(keyName)
    // Reads the cache before the `await`, because other calls may evict these records meanwhile.
    const known = names.map((name) => this.#cache.get(name))
    const read = known.includes(undefined) ? await this.#readThose(names, keys, known) : nothing
    return names.map((name, index) => {
      const record = this.#remember(name, known[index] ?? read.get(name) ?? null)
      return type === undefined || record === null
        ? (record as R | null)
        : checkedRecord(type, keys[index] as Key, record)
    })
  }

  scan(range: KvRange): Promise<readonly KvEntry[]> {
    return this.#kv.scan(this.#part, range)
  }

  /** Reads the records that are not cached. Reads each of them only once. */
  async #readThose(
    names: readonly string[],
    keys: readonly Key[],
    known: readonly (object | null | undefined)[],
  ): Promise<ReadonlyMap<string, object | null>> {
    const unread = new Map<string, Key>()
    keys.forEach((key, index) => {
      if (known[index] === undefined) unread.set(names[index] as string, key)
    })
    const values = await this.#kv.get(this.#part, [...unread.values()])
    const read = new Map<string, object | null>()
    for (const name of unread.keys()) {
      const value = values[read.size] ?? null
      read.set(name, value === null ? null : (decodeRecord(value) as object))
    }
    return read
  }

  #remember(name: string, record: object | null): object | null {
    this.#cache.delete(name)
    this.#cache.set(name, record)
    if (this.#cache.size > cachedRecordsMax) this.#forgetOldest()
    return record
  }

  #forgetOldest(): void {
    for (const oldest of this.#cache.keys()) return void this.#cache.delete(oldest)
  }
}

const nothing: ReadonlyMap<string, object | null> = new Map()
