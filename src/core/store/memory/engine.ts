import { isSameBytes } from '../../base/bytes.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import { memoized } from '../../base/maps.ts'
import type { Blobs, Engine, Health, Key, Kv, KvCommit, KvEntry, KvRange } from '../engine.ts'
import { countersOf, FenceCache } from '../fences.ts'
import { checkJobs } from '../job-state.ts'
import { decodeKey, encodeKey, keyName, keyRange } from '../key-encoding.ts'
import { OpenCalls } from '../open-calls.ts'
import { LocalBus, LocalLeaseStore, noForeignChanges, SingleNode } from '../single-node.ts'
import { SortedMap } from '../sorted-map.ts'
import { MemoryLog } from './log.ts'
import { MemoryQueue } from './queue.ts'

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
    if (!checks.every(({ key, value }) => isSameBytes(values.get(encodeKey(key)) ?? null, value)))
      return false
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
    return memoized(this.#partitions, keyName(part), () => new SortedMap<Uint8Array>())
  }
}

class MemoryBlobs implements Blobs {
  readonly #gate: OpenCalls
  readonly #blobs = new SortedMap<Uint8Array>()

  constructor(gate: OpenCalls) {
    this.#gate = gate
  }

  async put(key: Key, bytes: Uint8Array): Promise<void> {
    this.#gate.pass()
    this.#blobs.set(encodeKey(key), new Uint8Array(bytes))
  }

  async get(key: Key): Promise<Uint8Array | null> {
    this.#gate.pass()
    return this.#blobs.get(encodeKey(key)) ?? null
  }

  async delete(key: Key): Promise<void> {
    this.#gate.pass()
    this.#blobs.delete(encodeKey(key))
  }

  storedBytes(prefixes: readonly Key[]): number {
    let sum = 0
    for (const prefix of prefixes)
      for (const [key, bytes] of this.#blobs.range(keyRange(noSpace, { prefix })))
        sum += key.length + bytes.length
    return sum
  }

  async list(prefix: Key, { after, limit }: { after?: Key; limit: number }): Promise<readonly Key[]> {
    this.#gate.pass()
    const keys: Key[] = []
    for (const [key] of this.#blobs.range(keyRange(noSpace, { prefix, after }))) {
      if (keys.length >= limit) break
      keys.push(decodeKey(key))
    }
    return keys
  }
}

interface MemoryEngineOptions {
  readonly clock?: Clock
}

/**
 * Opens an engine that keeps all data in the memory of this process. All data is lost when the process exits.
 * The engine is for tests and trials. It has all properties of the other engines except durability.
 */
export async function openMemoryEngine({ clock = systemClock }: MemoryEngineOptions = {}): Promise<Engine> {
  const gate = new OpenCalls()
  const queue = new MemoryQueue(gate, clock)
  const fences = new FenceCache()
  const log = new MemoryLog(gate, queue, clock, fences)
  const blobs = new MemoryBlobs(gate)
  const kv = new MemoryKv(gate, queue, fences)
  return {
    log,
    blobs,
    bus: new LocalBus(),
    kv,
    fences,
    queue,
    foreignChanges: noForeignChanges,
    leases: new LocalLeaseStore(),
    cluster: new SingleNode(),
    health: (): Health => (gate.isOpen ? { ok: true } : { ok: false, reason: 'the store is closed' }),
    pendingBytes: () => 0,
    storedBytes: async (under) => {
      gate.pass()
      return log.storedBytes(under.logs) + blobs.storedBytes(under.blobs) + kv.storedBytes(under.parts)
    },
    dump: () => null,
    close: async () => gate.close(),
  }
}
