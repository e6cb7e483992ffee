import type { Key, Kv, KvCommit, KvEntry, KvRange } from '../engine.ts'
import { countersOf, type FenceCache } from '../fences.ts'
import { checkJobs } from '../job-state.ts'
import { decodeKey, encodeKey, keyName, keyRange } from '../key-encoding.ts'
import type { OpenCalls } from '../open-calls.ts'
import { SortedMap } from '../sorted-map.ts'
import type { MemoryQueue } from './queue.ts'

const noSpace = Buffer.alloc(0)

export class MemoryKv implements Kv {
  readonly #gate: OpenCalls
  readonly #queue: MemoryQueue
  readonly #fences: FenceCache
  readonly #partitions = new Map<string, SortedMap<Uint8Array>>()

  constructor(gate: OpenCalls, queue: MemoryQueue, fences: FenceCache) {
    this.#gate = gate
    this.#queue = queue
    this.#fences = fences
  }

  async get(part: Key, keys: readonly Key[]): Promise<readonly (Uint8Array | null)[]> {
    this.#gate.pass()
    const values = this.#part(part)
    return keys.map((key) => values.get(encodeKey(key)) ?? null)
  }

  async scan(part: Key, range: KvRange): Promise<readonly KvEntry[]> {
    this.#gate.pass()
    const found = this.#part(part).range(keyRange(noSpace, range), range.reverse)
    const entries: KvEntry[] = []
    for (const [key, value] of found) {
      if (entries.length >= range.limit) break
      entries.push({ key: decodeKey(key), value })
    }
    return entries
  }

  async commit(
    part: Key,
    { checks = [], puts = [], dels = [], jobs = [], fences = [] }: KvCommit,
  ): Promise<boolean> {
    this.#gate.pass()
    checkJobs(jobs)
    const values = this.#part(part)
    const writes = puts.map(({ key, value }) => ({ at: encodeKey(key), value }))
    const removals = dels.map(encodeKey)
    if (!checks.every(({ key, value }) => isSame(values.get(encodeKey(key)), value))) return false
    for (const { at, value } of writes) values.set(at, new Uint8Array(value))
    for (const at of removals) values.delete(at)
    this.#queue.enqueue(jobs)
    this.#fences.raise(countersOf(fences))
    return true
  }

  storedBytes(prefixes: readonly Key[]): number {
    let sum = 0
    for (const [name, values] of this.#partitions) {
      if (!prefixes.some((prefix) => name.startsWith(keyName(prefix)))) continue
      for (const [key, value] of values.range(keyRange(noSpace, {}))) sum += key.length + value.length
    }
    return sum
  }

  #part(part: Key): SortedMap<Uint8Array> {
    const name = keyName(part)
    const values = this.#partitions.get(name) ?? new SortedMap()
    this.#partitions.set(name, values)
    return values
  }
}

const isSame = (stored: Uint8Array | undefined, expected: Uint8Array | null): boolean =>
  stored === undefined || expected === null
    ? stored === undefined && expected === null
    : Buffer.compare(stored, expected) === 0
