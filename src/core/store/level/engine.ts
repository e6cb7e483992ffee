import { type Clock, systemClock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { Engine, StoredPage, StoredUnder } from '../engine.ts'
import { FenceCache } from '../fences.ts'
import { type ByteRange, keyRange, rangeOf } from '../key-encoding.ts'
import { OpenCalls } from '../open-calls.ts'
import { keyspaces, logSpaces } from '../pairs/keyspaces.ts'
import { formatVersion } from '../pairs/record-codec.ts'
import { LocalBus, LocalLeaseStore, noForeignChanges, SingleNode } from '../single-node.ts'
import { withRecordName } from '../stored-record.ts'
import { LevelBlobs } from './blobs.ts'
import { writeManifest } from './files/file-manifest.ts'
import { readError } from './files/level-errors.ts'
import { JobTable } from './jobs/job-table.ts'
import { LevelQueue } from './jobs/queue.ts'
import { LevelKv } from './kv.ts'
import { LevelLog } from './log/log.ts'
import { GroupCommit, pendingBytesMax } from './store/group-commit.ts'
import type { LevelCore } from './store/level-core.ts'
import { type OpenRequest, openChecked } from './store/open.ts'
import { RangeCompaction } from './store/range-compaction.ts'
import type { ReadSnapshot } from './store/reads.ts'
import { holdMsDefault, ReopeningStore } from './store/reopening-store.ts'
import { type OpenStore, openLevelStore, type Store } from './store/store.ts'

/**
 * A key that sorts before all other keys and that no table contains. Compacting the range of this key has
 * only one effect: LevelDB writes the data in memory to a table.
 */
const noKey = Buffer.of(0)
/** A key that sorts after all others. */
const afterAll = Buffer.of(0xff)

/**
 * Implements `Engine.storedBytes` for LevelDB. LevelDB estimates the size of a range from the indexes of its
 * tables. Therefore this function first makes LevelDB write the data in memory to a table.
 */
async function measureLevelBytes(store: Store, { logs, blobs, parts }: StoredUnder): Promise<number> {
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

interface LevelEngineOptions {
  /** Data directory. It is created if it is missing. The engine stores its data in the subfolder `store`. */
  readonly directory: string
  /**
   * Whether an acknowledged write survives a power failure (`disk`, the default) or only the end of this
   * process (`process`).
   */
  readonly durability?: 'disk' | 'process'
  readonly clock?: Clock
  readonly log?: Log
  /**
   * Maximum number of accepted bytes that are not yet durable. When it is reached, further writes are
   * rejected with StoreUnavailableError. Default 64 MB.
   */
  readonly pendingBytesMax?: number
  /**
   * Time in ms for which a failed write is retried. After that, it is rejected with StoreUnavailableError.
   * Default 30,000.
   */
  readonly holdMs?: number
  /** Opens the LevelDB database, at the start and again after failed writes. Tests inject faults here. */
  readonly openStore?: OpenStore
  /** How thoroughly the files are checked before the store is opened. Default `start`. */
  readonly depth?: OpenRequest['depth']
  /** Whether a damaged store is opened. Default `open`. */
  readonly damaged?: OpenRequest['damaged']
}

export interface LevelEngine extends Engine {
  /**
   * Lines of LevelDB's log about damage that LevelDB skipped while it opened the store. Empty if there was no
   * such damage.
   */
  readonly warnings: readonly string[]
}

/**
 * Opens the embedded engine. It stores its data in one directory, and serves one process.
 * @throws EngineOpenError
 */
export async function openLevelEngine(options: LevelEngineOptions): Promise<LevelEngine> {
  const { directory, clock = systemClock, log, openStore = openLevelStore } = options
  const { depth = 'start', damaged = 'open' } = options
  const { store, path, warnings } = await openChecked(directory, openStore, { depth, damaged })
  for (const warning of warnings) log?.warn({ warning }, 'the store has been damaged')
  const gate = new OpenCalls()
  const disk = new ReopeningStore({
    store,
    open: () => openStore(path),
    sync: options.durability !== 'process',
    holdMs: options.holdMs ?? holdMsDefault,
    clock,
    log,
    damages: warnings,
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
  let closing: Promise<void> | null = null
  return {
    ...parts,
    warnings,
    health: () => disk.health(),
    pendingBytes: () => commit.pendingBytes(),
    storedBytes: (under) => gate.run(() => disk.read((store) => measureLevelBytes(store, under))),
    dump: () => ({ format: formatVersion, pages: dumpStore(gate, disk) }),
    close: () => {
      rewriting.stop()
      closing ??= closeAll(core, path)
      return closing
    },
  }
}

/** Waits for the running calls and then for their writes, and closes the store. */
async function closeAll({ gate, commit, disk }: LevelCore, path: string): Promise<void> {
  await gate.close()
  await commit.durable().catch(() => undefined)
  const isSound = disk.health().ok
  await disk.close()
  // After a failed write, the state of the files is unknown. No manifest is written then, because it could be
  // wrong.
  if (isSound) await writeManifest(path).catch(() => undefined)
}

/** The range that contains all keys of a store. */
const everything = rangeOf(Buffer.alloc(0))

/**
 * Yields all stored pairs as they were when the caller requested the first page.
 * @throws StoreUnavailableError, CorruptRecordError
 */
async function* dumpStore(gate: OpenCalls, disk: ReopeningStore): AsyncGenerator<StoredPage> {
  gate.pass()
  yield* dumpSnapshot(await disk.read(async (store) => store.snapshot()))
}

/**
 * Yields all pairs of one snapshot, then closes the snapshot.
 * @throws StoreUnavailableError, CorruptRecordError
 */
async function* dumpSnapshot(moment: ReadSnapshot): AsyncGenerator<StoredPage> {
  const pages = moment.pages(everything)[Symbol.asyncIterator]()
  const next = () =>
    pages.next().catch((error: unknown) => {
      throw readError(error)
    })
  try {
    for (;;) {
      const page = await withRecordName('the store', [], next)
      if (page.done === true) return
      yield page.value
    }
  } finally {
    await pages.return?.()
    await moment.close()
  }
}
