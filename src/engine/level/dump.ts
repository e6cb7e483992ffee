import type { StoredPage } from '../engine.ts'
import type { Gate } from '../gate.ts'
import { rangeOf } from '../keys.ts'
import { named } from '../named-damage.ts'
import type { Disk } from './disk.ts'
import { readError } from './failures.ts'
import type { Snapshot } from './reads.ts'

/** Every key of a store. */
export const everything = rangeOf(Buffer.alloc(0))

/** All pairs as they are when the first page is asked for. @throws StoreUnavailable, CorruptRecord */
export async function* dumpStore(gate: Gate, disk: Disk): AsyncGenerator<StoredPage> {
  gate.pass()
  yield* dumpSnapshot(await disk.read(async (store) => store.snapshot()))
}

/** All pairs of one moment, which is closed then. @throws StoreUnavailable, CorruptRecord */
export async function* dumpSnapshot(moment: Snapshot): AsyncGenerator<StoredPage> {
  const pages = moment.pages(everything)[Symbol.asyncIterator]()
  const next = () =>
    pages.next().catch((error: unknown) => {
      throw readError(error)
    })
  try {
    for (;;) {
      const page = await named('the store', [], next)
      if (page.done === true) return
      yield page.value
    }
  } finally {
    await pages.return?.()
    await moment.close()
  }
}
