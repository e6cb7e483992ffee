import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { withRecordName } from '../damaged-record.ts'
import type { Blobs, Engine, Key, StoredUnder } from '../engine.ts'
import { FenceCache } from '../fences.ts'
import { type ByteRange, decodeKey, encodeKey, keyRange } from '../key-encoding.ts'
import { OpenCalls } from '../open-calls.ts'
import { inKeyspace, keyspaces, logSpaces } from '../pairs/keyspaces.ts'
import { addChecksum, checkChecksum } from '../pairs/record-codec.ts'
import { LocalBus, LocalLeaseStore, noForeignChanges, SingleNode } from '../single-node.ts'
import { JobTable } from './jobs/job-table.ts'
import { LevelQueue } from './jobs/queue.ts'
import { LevelKv } from './kv.ts'
import { LevelLog } from './log/log.ts'
import { GroupCommit, pendingBytesMax } from './store/group-commit.ts'
import type { LevelCore } from './store/level-core.ts'
import { RangeCompaction } from './store/range-compaction.ts'
import { holdMsDefault, ReopeningStore } from './store/reopening-store.ts'
import type { Store } from './store/store.ts'

interface KeyValueEngineOptions {
  readonly store: Store
  /** Opens the store again, after it was closed because of a failed write. */
  readonly open: () => Promise<Store>
  /** As in `ReopeningStore`. */
  readonly sync: boolean
  readonly clock: Clock
  readonly log?: Log | undefined
  /** Sentences that describe files that are known to be damaged. Default: none. */
  readonly damages?: readonly string[]
  readonly pendingBytesMax?: number | undefined
  readonly holdMs?: number | undefined
}

/** An engine of one process over a store of keys and values. */
interface KeyValueEngine {
  readonly core: LevelCore
  readonly engine: Omit<Engine, 'dump' | 'close'>
  /**
   * Waits for the running calls and then for their writes, and closes the store. Resolves with whether all writes have
   * succeeded.
   */
  close(): Promise<boolean>
}

export function createEngine(options: KeyValueEngineOptions): KeyValueEngine {
  const { clock, log, damages = [] } = options
  const gate = new OpenCalls()
  const disk = new ReopeningStore({
    ...options,
    holdMs: options.holdMs ?? holdMsDefault,
    log,
    damages,
    onGivenUp: (error) => {
      for (const part of [parts.log, parts.kv, table]) part.forget()
      commit.abandon(error)
    },
  })
  const commit = new GroupCommit(disk, options.pendingBytesMax ?? pendingBytesMax)
  const fences = new FenceCache()
  const rewriting = new RangeCompaction(gate, commit, disk, clock, log)
  const core: LevelCore = { gate, disk, commit, clock, log, rewriting, fences }
  const table = new JobTable(core)
  const queue = new LevelQueue(core, table)
  const parts = {
    queue,
    log: new LevelLog(core, queue),
    kv: new LevelKv(core, queue),
    fences,
    blobs: new LevelBlobs(core),
    bus: new LocalBus(),
    foreignChanges: noForeignChanges,
    leases: new LocalLeaseStore(),
    cluster: new SingleNode(),
  }
  return {
    core,
    engine: {
      ...parts,
      health: () => disk.health(),
      pendingBytes: () => commit.pendingBytes(),
      storedBytes: (under) => gate.run(() => disk.read((store) => measureBytes(store, under))),
    },
    close: async () => {
      rewriting.stop()
      await gate.close()
      await commit.durable().catch(() => undefined)
      const isSound = disk.health().ok
      await disk.close()
      return isSound
    },
  }
}

/**
 * A key that sorts before all other keys and that no table contains. Compacting the range of this key has
 * only one effect: LevelDB writes the data in memory to a table.
 */
const noKey = Buffer.of(0)
/** A key that sorts after all others. */
const afterAll = Buffer.of(0xff)

/**
 * Implements `Engine.storedBytes`. LevelDB estimates the size of a range from the indexes of its
 * tables. Therefore this function first makes LevelDB write the data in memory to a table.
 */
async function measureBytes(store: Store, { logs, blobs, parts }: StoredUnder): Promise<number> {
  await store.compactTables({ gte: noKey, lt: noKey })
  const ranges = [
    ...logs.flatMap((prefix) => logSpaces.map((space) => keyRange(space, { prefix }))),
    ...blobs.map((prefix) => keyRange(keyspaces.blobs, { prefix })),
    ...parts.map((prefix) => keyRange(keyspaces.kv, { prefix })),
  ]
  const sizes = await Promise.all(ranges.map((range) => tableBytes(store, range)))
  return sizes.reduce((sum, size) => sum + size, 0)
}

/**
 * Estimates the size of a range in bytes. First moves both ends of the range to stored keys. The index of a
 * table has one key for each block, and this key may lie between two stored keys, so the position of a key is
 * exact only if the key is stored.
 */
async function tableBytes(store: Store, { gte, lt }: ByteRange): Promise<number> {
  const first = await firstKey(store, gte)
  if (Buffer.compare(first, lt) >= 0) return 0
  return store.tableBytes({ gte: first, lt: await firstKey(store, lt) })
}

async function firstKey(store: Store, gte: Buffer): Promise<Buffer> {
  const [first] = await store.firstPage({ gte, lt: afterAll }, { limit: 1, values: false })
  return first === undefined ? afterAll : first[0]
}

const blobKey = (key: Key): Buffer => inKeyspace(keyspaces.blobs, encodeKey(key))

class LevelBlobs implements Blobs {
  readonly #core: LevelCore

  constructor(core: LevelCore) {
    this.#core = core
  }

  put(key: Key, bytes: Uint8Array): Promise<void> {
    return this.#core.gate.run(async () => {
      this.#core.commit.admit()
      const at = blobKey(key)
      this.#core.commit.put(at, addChecksum(at, bytes))
      await this.#core.commit.durable()
    })
  }

  get(key: Key): Promise<Uint8Array | null> {
    const read = async () => {
      const at = blobKey(key)
      const value = await this.#core.disk.read((store) => store.get(at))
      return value === undefined ? null : checkChecksum(at, value)
    }
    return this.#core.gate.run(() => withRecordName('blob', key, read))
  }

  delete(key: Key): Promise<void> {
    return this.#core.gate.run(async () => {
      this.#core.commit.admit()
      this.#core.commit.delete(blobKey(key))
      await this.#core.commit.durable()
    })
  }

  list(prefix: Key, { after, limit }: { after?: Key; limit: number }): Promise<readonly Key[]> {
    return this.#core.gate.run(async () => {
      const range = keyRange(keyspaces.blobs, { prefix, after })
      return this.#core.disk.read(async (store) => {
        const found: Key[] = []
        if (limit <= 0) return found
        for await (const page of store.pages(range, { limit, values: false })) {
          for (const [key] of page) found.push(decodeKey(key.subarray(keyspaces.blobs.length)))
        }
        return found
      })
    })
  }
}
