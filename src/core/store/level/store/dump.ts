import { withRecordName } from '../../damaged-record.ts'
import type { StoredPage } from '../../engine.ts'
import { rangeOf } from '../../key-encoding.ts'
import type { OpenCalls } from '../../open-calls.ts'
import { readError } from '../files/level-errors.ts'
import type { ReadSnapshot } from './reads.ts'
import type { ReopeningStore } from './reopening-store.ts'

/** The range that contains all keys of a store. */
const everything = rangeOf(Buffer.alloc(0))

/**
 * Yields all stored pairs as they were when the caller requested the first page.
 * @throws StoreUnavailableError, CorruptRecordError
 */
export async function* dumpStore(gate: OpenCalls, disk: ReopeningStore): AsyncGenerator<StoredPage> {
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
