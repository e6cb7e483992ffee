import { isSameBytes } from '../../base/bytes.ts'
import { KeyedMutex } from '../../base/keyed-mutex.ts'
import type { Job, Key, Kv, KvCommit, KvEntry, KvRange } from '../engine.ts'
import { countersOf } from '../fences.ts'
import { checkJobs, copyOfJob } from '../job-state.ts'
import { decodeKey, encodeKey, encodeKeyAfter, keyName, keyRange } from '../key-encoding.ts'
import { keyspaces, under } from '../pairs/keyspaces.ts'
import { addChecksum, checkChecksum, withoutChecksum } from '../pairs/record-codec.ts'
import { DamagedRecordError, toCorruptRecord, withRecordName } from '../stored-record.ts'
import type { LevelQueue } from './jobs/queue.ts'
import type { CommitUrgency } from './store/group-commit.ts'
import type { LevelCore } from './store/level-core.ts'
import { ReadCache } from './store/read-cache.ts'
import { type CacheEntry, known, WriteThroughCache } from './store/write-through-cache.ts'

/** Maximum size of a cached value, and of the result of a cached scan, in bytes. */
const cachedBytesMax = 1_024
/** Bytes that each entry of a cached scan counts in addition to its key and value. */
const entryBytes = 64
const cachedValuesMax = 1_000
/** Maximum number of partitions whose scans are cached, and maximum number of cached scans of each partition. */
const cachedScans = { partitions: 50, ofPartition: 100 } as const

/** Results of scans of one partition. */
type Scans = ReadonlyMap<string, readonly KvEntry[]>

type ValueCell = CacheEntry<Uint8Array | null>

/** A commit whose checks have succeeded and whose writes are in progress. */
interface Decided {
  readonly cells: readonly ValueCell[]
  /**
   * Must be called when the commit is durable or has failed. Completes the raise of the fences of the commit.
   */
  readonly ended: () => void
}

export class LevelKv implements Kv {
  readonly #core: LevelCore
  readonly #queue: LevelQueue
  /**
   * Cache of all values that are being written, and of the values that running checks compare and that are not
   * in `#recent`.
   */
  readonly #values: WriteThroughCache<Uint8Array | null>
  readonly #recent = new ReadCache<Uint8Array | null>(
    cachedValuesMax,
    (value) => value === null || value.length <= cachedBytesMax,
  )
  /** Cache of small scans, by partition. Each write to a partition evicts all its scans. */
  readonly #scans = new ReadCache<Scans>(cachedScans.partitions, () => true)
  readonly #partitions = new KeyedMutex()

  constructor(core: LevelCore, queue: LevelQueue) {
    this.#core = core
    this.#queue = queue
    this.#values = new WriteThroughCache(async (key) => (await this.#readAll([key]))[0] ?? null, 0)
  }

  get(part: Key, keys: readonly Key[]): Promise<readonly (Uint8Array | null)[]> {
    const names = namesOf(part, keys)
    const found = this.#isOpen ? this.#getNow(part, keys, names) : null
    if (found !== null) return Promise.resolve(found)
    return this.#core.gate.run(() => withRecordName('partition', part, () => this.#look(part, keys, names)))
  }

  scan(part: Key, range: KvRange): Promise<readonly KvEntry[]> {
    const [space, name] = [keyName(part), scanName(range)]
    const cached = this.#isOpen ? this.#scans.value(space)?.get(name) : undefined
    if (cached !== undefined) return Promise.resolve(cached)
    return this.#core.gate.run(() =>
      withRecordName('partition', part, async () => {
        const look = this.#scans.begin([space])
        let scans: Scans | undefined
        try {
          const found = await this.#scan(partition(part), range)
          if (isSmall(found)) scans = withScan(this.#scans.value(space), name, found)
          return found
        } finally {
          this.#scans.end(look, scans && [scans])
        }
      }),
    )
  }

  commit(part: Key, commit: KvCommit): Promise<boolean> {
    return this.#core.gate.run(() => this.#commit(part, prepare(part, commit)))
  }

  async #commit(part: Key, prepared: Prepared): Promise<boolean> {
    let written: Decided | null
    try {
      written = await this.#partitions.run(prepared.name, () => this.#decide(prepared))
    } catch (error) {
      throw toCorruptRecord('partition', part, error)
    }
    // The values with which the checks compared may not be durable yet. The caller gets the result only
    // when they are durable.
    if (written === null) {
      await this.#core.commit.durable()
      return false
    }
    let isDurable = false
    try {
      await this.#core.commit.durable(prepared.pace)
      isDurable = true
      return true
    } finally {
      for (const cell of written.cells) this.#values.unpin(cell)
      const checked = new Set(prepared.checks.map(({ name }) => name))
      // A record that was read before the write is usually read again; an index entry is not.
      for (const { name, value } of prepared.writes)
        this.#recent.written(name, isDurable && checked.has(name) ? copyOf(value) : undefined)
      this.#scans.written(prepared.name)
      written.ended()
    }
  }

  async #scan(space: Buffer, range: KvRange): Promise<readonly KvEntry[]> {
    const { limit, reverse = false } = range
    if (limit <= 0) return []
    return this.#core.disk.read(async (store) => {
      const found: KvEntry[] = []
      for await (const page of store.pages(keyRange(space, range), { reverse, limit })) {
        for (const [key, value] of page) {
          found.push({ key: decodeKey(key.subarray(space.length)), value: checkChecksum(key, value) })
        }
      }
      return found
    })
  }

  /**
   * Runs the checks of a commit. If all succeed, adds the writes to the group commit and returns the written
   * values, which stay pinned until they are durable. If a check fails, returns null.
   */
  async #decide({
    name: space,
    at,
    checks,
    writes,
    jobs,
    pace,
    fences,
    decided,
  }: Prepared): Promise<Decided | null> {
    this.#core.commit.admit()
    checkJobs(jobs)
    const pinnedJobs = this.#queue.pinNew(jobs) ?? (await this.#queue.pin(jobs))
    const pinned = new Map<string, ValueCell>()
    try {
      for (;;) {
        const missing = checks.filter(
          ({ name }) => !pinned.has(name) && this.#recent.value(name) === undefined,
        )
        // The comparison follows in the same tick, so that no value is evicted in between.
        if (missing.length === 0) break
        for (const { name, key } of missing)
          if (!pinned.has(name))
            pinned.set(
              name,
              this.#values.pin(name, () => stored(at, key)),
            )
        await Promise.all([...pinned.values()].map(({ ready }) => ready))
      }
      const isCurrent = ({ name, value }: ExpectedValue): boolean => {
        const cell = pinned.get(name)
        const found = cell === undefined ? this.#recent.value(name) : known(cell)
        return found !== undefined && isSameBytes(found, value)
      }
      if (!checks.every(isCurrent)) return null
      this.#core.commit.admit()
      pinnedJobs.enqueue()
      this.#scans.write(space)
      const cells = writes.map((write) => this.#write(write, pace))
      const ended = this.#core.fences.raiseWith(fences)
      // In this tick, so that the writes that follow are in the same batch.
      decided?.()
      return { cells, ended }
    } finally {
      for (const cell of pinned.values()) this.#values.unpin(cell)
      pinnedJobs.release()
    }
  }

  /**
   * Adds one write to the group commit. Never throws, because either all writes of a commit must be added or
   * none.
   */
  #write({ name, at, value, stored }: Write, pace: CommitUrgency): ValueCell {
    this.#recent.write(name)
    if (stored === null) this.#core.commit.delete(at, pace)
    else this.#core.commit.put(at, stored, pace)
    return this.#values.hold(name, at, value)
  }

  /**
   * Returns values of which the event loop can read those that are not cached. Returns null if a value is damaged, or
   * if a thread must read the values.
   */
  #getNow(part: Key, keys: readonly Key[], names: readonly string[]): readonly (Uint8Array | null)[] | null {
    const values = names.map((name) => this.#recent.value(name))
    const isMissing = (_: unknown, index: number): boolean => values[index] === undefined
    const missing = keys.filter(isMissing)
    if (missing.length === 0) return values as readonly (Uint8Array | null)[]
    const read = this.#readNow(part, missing)
    if (read === null) return null
    this.#recent.read(names.filter(isMissing), read)
    const found = read.values()
    return values.map((value) => (value === undefined ? (found.next().value ?? null) : value))
  }

  #readNow(part: Key, keys: readonly Key[]): readonly (Uint8Array | null)[] | null {
    const space = partition(part)
    const at = keys.map((key) => stored(space, key))
    const values = this.#core.disk.readNow((store) => store.getNow(at))
    try {
      return values && unsealed(at, values)
    } catch (error) {
      if (error instanceof DamagedRecordError) return null
      throw error
    }
  }

  get #isOpen(): boolean {
    return this.#core.gate.isOpen && this.#core.disk.health().ok
  }

  async #look(
    part: Key,
    keys: readonly Key[],
    names: readonly string[],
  ): Promise<readonly (Uint8Array | null)[]> {
    const space = partition(part)
    const look = this.#recent.begin(names)
    let found: (Uint8Array | null)[] | undefined
    try {
      found = await this.#readAll(keys.map((key) => stored(space, key)))
      return found
    } finally {
      this.#recent.end(look, found)
    }
  }

  async #readAll(keys: readonly Buffer[]): Promise<(Uint8Array | null)[]> {
    return unsealed(
      keys,
      await this.#core.disk.read((store) => Promise.all(keys.map((key) => store.get(key)))),
    )
  }

  /** Evicts all cached values. Call this method after a write with unknown outcome. */
  forget(): void {
    this.#values.forget()
    this.#recent.forget()
    this.#scans.forget()
  }
}

/** Returns the values without their checksums; null for each absent one. @throws DamagedRecordError */
const unsealed = (keys: readonly Buffer[], values: readonly (Buffer | undefined)[]): (Uint8Array | null)[] =>
  keys.map((key, index) => {
    const value = values[index]
    return value === undefined ? null : checkChecksum(key, value)
  })

/** Returns a name of the range that is unique within the partition. */
const scanName = ({ prefix = [], after, reverse = false, limit }: KvRange): string =>
  `${limit} ${reverse} ${keyName(prefix)} ${after === undefined ? '' : keyName(after)}`

const isSmall = (found: readonly KvEntry[]): boolean =>
  found.reduce((bytes, { key, value }) => bytes + keyBytes(key) + value.length + entryBytes, 0) <=
  cachedBytesMax

/** Returns the maximum memory that the segments of a key need. */
const keyBytes = (key: Key): number => key.reduce((bytes, segment) => bytes + 2 * segment.length, 0)

/** Returns the cached scans of a partition with one scan more, and without the oldest of too many scans. */
const withScan = (scans: Scans | undefined, name: string, found: readonly KvEntry[]): Scans =>
  new Map([...[...(scans ?? [])].slice(1 - cachedScans.ofPartition), [name, found]])

const partition = (part: Key): Buffer => under(keyspaces.kv, encodeKey(part))
const stored = (space: Buffer, key: Key): Buffer => encodeKeyAfter(space, key)
const copyOf = (value: Uint8Array | null): Uint8Array | null => value && new Uint8Array(value)

/** Returns a name for each key. The name is unique across all partitions. */
function namesOf(part: Key, keys: readonly Key[]): readonly string[] {
  const space = keyName(part)
  return keys.map((key) => `${space}/${keyName(key)}`)
}

/** The expected value of a key; null if the key is absent. `name` is unique across all partitions. */
interface ExpectedValue {
  readonly name: string
  readonly key: Key
  readonly value: Uint8Array | null
}

/** A new value; null if the key is deleted. */
interface Write {
  readonly name: string
  /** The key in the store. */
  readonly at: Buffer
  readonly value: Uint8Array | null
  /** `value` as it is stored, with header and checksum. */
  readonly stored: Buffer | null
}

interface Prepared {
  /** Name of the partition. */
  readonly name: string
  /** Start of its keys in the store. */
  readonly at: Buffer
  readonly checks: readonly ExpectedValue[]
  readonly writes: readonly Write[]
  readonly jobs: readonly Job[]
  readonly pace: CommitUrgency
  /** Counters of the fences that the commit raises. */
  readonly fences: readonly number[]
  readonly decided: (() => void) | undefined
}

/**
 * Validates a commit before anything changes. Also copies the buffers, because the caller may reuse them
 * while the commit waits.
 */
function prepare(
  part: Key,
  { checks = [], puts = [], dels = [], jobs = [], pace = 'now', fences = [], decided }: KvCommit,
): Prepared {
  const [space, name] = [partition(part), keyName(part)]
  const nameOf = (key: Key): string => `${name}/${keyName(key)}`
  const writes: Write[] = []
  for (const { key, value } of puts) {
    const at = stored(space, key)
    const sealed = addChecksum(at, value)
    writes.push({ name: nameOf(key), at, value: withoutChecksum(sealed), stored: sealed })
  }
  for (const key of dels)
    writes.push({ name: nameOf(key), at: stored(space, key), value: null, stored: null })
  return {
    name,
    at: space,
    checks: checks.map(({ key, value }) => ({ name: nameOf(key), key, value: copyOf(value) })),
    writes,
    jobs: jobs.map(copyOfJob),
    pace,
    fences: countersOf(fences),
    decided,
  }
}
