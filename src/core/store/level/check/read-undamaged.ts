import { DamagedRecordError } from '../../damaged-record.ts'
import type { ByteRange } from '../../key-encoding.ts'
import { readError } from '../files/level-errors.ts'
import type { KeyValuePair, ScanOptions } from '../store/reads.ts'
import type { Store } from '../store/store.ts'

const afterKey = Buffer.alloc(1)

/**
 * Yields the pairs of a range that can be read. At the first damage, calls `onDamage` with the reason. It
 * then reads the pairs one by one until a read fails again.
 */
export async function* readUndamaged(
  store: Store,
  range: ByteRange,
  options: ScanOptions,
  onDamage: (problem: string) => void,
): AsyncGenerator<KeyValuePair> {
  let { gte } = range
  let scan: ScanOptions = options
  for (;;) {
    let count = 0
    try {
      for await (const page of store.pages({ ...range, gte }, scan)) {
        for (const pair of page) {
          yield pair
          count += 1
          gte = Buffer.concat([pair[0], afterKey])
        }
      }
      if (scan.limit !== 1 || count === 0) return
    } catch (error) {
      const read = readError(error)
      if (!(read instanceof DamagedRecordError)) throw error
      if (scan.limit === 1) return
      onDamage(read.message)
      scan = { ...options, limit: 1 }
    }
  }
}
