import type { Key, Kv, KvEntry, KvRange } from '../engine/engine.ts'
import { keyName } from '../engine/keys.ts'
import { decodeRecord } from './records.ts'

/** Records that a reader remembers; of more, those used longest ago are forgotten, and read anew when asked for. */
const rememberedMax = 1_000

/** Reads one partition. */
export interface Reader {
  /** The record at `key`; null when there is none. */
  get<R extends object>(key: Key): Promise<R | null>
  /** Like `get`, in one read; the answers are in the order of the keys. */
  getAll<R extends object>(keys: readonly Key[]): Promise<readonly (R | null)[]>
  /** Stored entries of a range. */
  scan(range: KvRange): Promise<readonly KvEntry[]>
}

/** Reads a partition for one call. What is asked for again is not read again, as far as it is remembered. */
export class StoreReader implements Reader {
  readonly #kv: Kv
  readonly #part: Key
  /** Those used last are last. */
  readonly #remembered = new Map<string, object | null>()

  constructor(kv: Kv, part: Key) {
    this.#kv = kv
    this.#part = part
  }

  async get<R extends object>(key: Key): Promise<R | null> {
    const [record = null] = await this.getAll<R>([key])
    return record
  }

  async getAll<R extends object>(keys: readonly Key[]): Promise<readonly (R | null)[]> {
    const named = keys.map((key) => [keyName(key), key] as const)
    if (named.every(([name]) => this.#remembered.has(name)))
      return named.map(([name]) => this.#recall(name) as R | null)
    const found = new Map(named.map(([name]) => [name, this.#remembered.get(name)]))
    const unread = [...new Map(named.filter(([name]) => found.get(name) === undefined))]
    const values = unread.length === 0 ? [] : await this.#read(unread.map(([, key]) => key))
    for (const [index, [name]] of unread.entries()) found.set(name, values[index] ?? null)
    for (const [name, record = null] of found) this.#remember(name, record)
    return named.map(([name]) => (found.get(name) ?? null) as R | null)
  }

  scan(range: KvRange): Promise<readonly KvEntry[]> {
    return this.#kv.scan(this.#part, range)
  }

  #recall(name: string): object | null {
    const record = this.#remembered.get(name) ?? null
    this.#remember(name, record)
    return record
  }

  async #read(keys: readonly Key[]): Promise<readonly (object | null)[]> {
    const values = await this.#kv.get(this.#part, keys)
    return values.map((value) => (value === null ? null : (decodeRecord(value) as object)))
  }

  #remember(name: string, record: object | null): void {
    this.#remembered.delete(name)
    this.#remembered.set(name, record)
    const [oldest] = this.#remembered.keys()
    if (this.#remembered.size > rememberedMax && oldest !== undefined) this.#remembered.delete(oldest)
  }
}
