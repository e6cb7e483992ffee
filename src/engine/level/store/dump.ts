import { withRecordName } from '../../damaged-record.ts'
import type { StoredPage } from '../../engine.ts'
import { rangeOf } from '../../key-encoding.ts'
import type { OpenCalls } from '../../open-calls.ts'
import { readError } from './level-errors.ts'
import type { ReadSnapshot } from './reads.ts'
import type { ReopeningStore } from './reopening-store.ts'

/** Every key of a store. */
export const everything = rangeOf(Buffer.alloc(0))

/** All pairs as they are when the first page is asked for. @throws StoreUnavailableError, CorruptRecordError */
export async function* dumpStore(gate: OpenCalls, disk: ReopeningStore): AsyncGenerator<StoredPage> {
  gate.pass()
  yield* dumpSnapshot(await disk.read(async (store) => store.snapshot()))
}

/** All pairs of one moment, which is closed then. @throws StoreUnavailableError, CorruptRecordError */
export async function* dumpSnapshot(moment: ReadSnapshot): AsyncGenerator<StoredPage> {
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
