import { type Clock, systemClock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { withRecordName } from '../damaged-record.ts'
import type { Engine, StoredPage } from '../engine.ts'
import { rangeOf } from '../key-encoding.ts'
import type { OpenCalls } from '../open-calls.ts'
import { formatVersion } from '../pairs/record-codec.ts'
import { writeManifest } from './files/file-manifest.ts'
import { readError } from './files/level-errors.ts'
import { createEngine } from './key-value-engine.ts'
import { type OpenRequest, openChecked } from './store/open.ts'
import type { ReadSnapshot } from './store/reads.ts'
import type { ReopeningStore } from './store/reopening-store.ts'
import { type OpenStore, openLevelStore } from './store/store.ts'

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
  const { core, engine, close } = createEngine({
    store,
    open: () => openStore(path),
    sync: options.durability !== 'process',
    clock,
    log,
    damages: warnings,
    pendingBytesMax: options.pendingBytesMax,
    holdMs: options.holdMs,
  })
  // After a failed write, the state of the files is unknown. No manifest is written then, because it could be
  // wrong.
  const closeAll = async (): Promise<void> => {
    if (await close()) await writeManifest(path).catch(() => undefined)
  }
  let closing: Promise<void> | null = null
  return {
    ...engine,
    warnings,
    dump: () => ({ format: formatVersion, pages: dumpStore(core.gate, core.disk) }),
    close: () => {
      closing ??= closeAll()
      return closing
    },
  }
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
