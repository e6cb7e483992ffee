import type { Key, Kv, KvEntry, KvRange } from '../../engine/engine.ts'
import { keyName } from '../../engine/key-encoding.ts'
import { decodeRecord } from './records.ts'

/** Records that a reader remembers; of more, those used longest ago are forgotten, and read anew when asked for. */
const cachedRecordsMax = 1_000

/** Reads one partition. */
export interface DirectoryReader {
  /** The record at `key`; null when there is none. */
  get<R extends object>(key: Key): Promise<R | null>
  /** Like `get`, in one read; the answers are in the order of the keys. */
  getAll<R extends object>(keys: readonly Key[]): Promise<readonly (R | null)[]>
  /** Stored entries of a range. */
  scan(range: KvRange): Promise<readonly KvEntry[]>
}

/** Reads a partition for one call. What is asked for again is not read again, as far as it is remembered. */
export class CachingDirectoryReader implements DirectoryReader {
  readonly #kv: Kv
  readonly #part: Key
  /** Those used last are last. */
  readonly #cache = new Map<string, object | null>()

  constructor(kv: Kv, part: Key) {
    this.#kv = kv
    this.#part = part
  }

  async get<R extends object>(key: Key): Promise<R | null> {
    const [record = null] = await this.getAll<R>([key])
    return record
  }

  async getAll<R extends object>(keys: readonly Key[]): Promise<readonly (R | null)[]> {
    const names = keys.map(keyName)
    // Before waiting: others may have it forgotten meanwhile.
    const known = names.map((name) => this.#cache.get(name))
    const read = known.includes(undefined) ? await this.#readThose(names, keys, known) : nothing
    return names.map(
      (name, index) => this.#remember(name, known[index] ?? read.get(name) ?? null) as R | null,
    )
  }

  scan(range: KvRange): Promise<readonly KvEntry[]> {
    return this.#kv.scan(this.#part, range)
  }

  /** The records that are not known yet, each read once. */
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
