import type { Key, Kv, KvEntry, KvRange } from '../../store/engine.ts'
import { keyName } from '../../store/key-encoding.ts'
import { anyRecordType, checkedRecord, type RecordType, readRecord } from '../../store/stored-record.ts'

/**
 * Maximum number of records that a reader caches. The least recently used records are evicted, and are read
 * again when they are needed.
 */
const cachedRecordsMax = 1_000

/** Reads records and entries of one partition. */
export interface DirectoryReader {
  /** Returns the record at `key`, of which the caller reads no member; null if it does not exist. */
  get(key: Key): Promise<object | null>
  /**
   * Returns the record at `key`; null if it does not exist.
   * @throws MalformedJsonError if the record does not match its type
   */
  get<R extends object>(key: Key, type: RecordType<R>): Promise<R | null>
  /** Like `get` for several keys, but with only one read. The records are in the order of the keys. */
  getAll(keys: readonly Key[]): Promise<readonly (object | null)[]>
  getAll<R extends object>(keys: readonly Key[], type: RecordType<R>): Promise<readonly (R | null)[]>
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

  get(key: Key): Promise<object | null>
  get<R extends object>(key: Key, type: RecordType<R>): Promise<R | null>
  async get(key: Key, type = anyRecordType): Promise<object | null> {
    const [record = null] = await this.getAll([key], type)
    return record
  }

  getAll(keys: readonly Key[]): Promise<readonly (object | null)[]>
  getAll<R extends object>(keys: readonly Key[], type: RecordType<R>): Promise<readonly (R | null)[]>
  async getAll(keys: readonly Key[], type = anyRecordType): Promise<readonly (object | null)[]> {
    const names = keys.map(keyName)
    // Reads the cache before the `await`, because other calls may evict these records meanwhile.
    const known = names.map((name) => this.#cache.get(name))
    const unread = new Map<string, Key>()
    keys.forEach((key, index) => {
      if (known[index] === undefined) unread.set(names[index] as string, key)
    })
    const read = unread.size > 0 ? await this.#readThose(unread) : nothing
    return keys.map((key, index) => {
      const name = names[index] as string
      const record = known[index] ?? read.get(name) ?? null
      this.#remember(name, record)
      return record === null ? null : checkedRecord(type, key, record)
    })
  }

  scan(range: KvRange): Promise<readonly KvEntry[]> {
    return this.#kv.scan(this.#part, range)
  }

  /** Reads records by their names. Reads each of them only once. */
  async #readThose(keys: ReadonlyMap<string, Key>): Promise<ReadonlyMap<string, object>> {
    const values = (await this.#kv.get(this.#part, [...keys.values()])).values()
    const read = new Map<string, object>()
    for (const [name, key] of keys) {
      const value = values.next().value ?? null
      if (value !== null) read.set(name, readRecord(anyRecordType, { key, value }))
    }
    return read
  }

  #remember(name: string, record: object | null): void {
    this.#cache.delete(name)
    this.#cache.set(name, record)
    if (this.#cache.size <= cachedRecordsMax) return
    for (const oldest of this.#cache.keys()) return void this.#cache.delete(oldest)
  }
}

const nothing: ReadonlyMap<string, object> = new Map()
