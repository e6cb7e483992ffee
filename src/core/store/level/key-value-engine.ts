import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { Engine, StoredUnder } from '../engine.ts'
import { FenceCache } from '../fences.ts'
import { type ByteRange, keyRange } from '../key-encoding.ts'
import { OpenCalls } from '../open-calls.ts'
import { keyspaces, logSpaces } from '../pairs/keyspaces.ts'
import { LocalBus, LocalLeaseStore, noForeignChanges, SingleNode } from '../single-node.ts'
import { LevelBlobs } from './blobs.ts'
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
