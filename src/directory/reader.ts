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
    const names = keys.map(keyName)
    const records = names.map((name) => this.#remembered.get(name))
    if (records.includes(undefined)) await this.#fill(records, names, keys)
    for (const [index, name] of names.entries()) this.#remember(name, records[index] ?? null)
    return records as (R | null)[]
  }

  scan(range: KvRange): Promise<readonly KvEntry[]> {
    return this.#kv.scan(this.#part, range)
  }

  /** Puts the records that are not known yet where they belong; each is read once. */
  async #fill(
    records: (object | null | undefined)[],
    names: readonly string[],
    keys: readonly Key[],
  ): Promise<void> {
    const unread = [...names.keys()].filter((index) => records[index] === undefined)
    const places = new Map(unread.map((index) => [names[index], index]))
    const read = await this.#read([...places.values()].map((index) => keys[index] as Key))
    const found = new Map([...places.keys()].map((name, at) => [name, read[at] ?? null]))
    for (const index of unread) records[index] = found.get(names[index]) ?? null
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
