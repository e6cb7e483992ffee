import { encodeJson, responseTooLarge } from '../../model/json-pieces.ts'
import type { AttributedRange, Attribution } from '../../update/attribution/attribution.ts'
import { shownOrigin } from './author-runs.ts'

/** The origins of the ids of a document, as JSON in UTF-8. */
export interface ListedOrigins {
  readonly origins: readonly Uint8Array[]
  /** Ranges of inserted ids, each with the index of its origin in `origins`. */
  readonly inserted: readonly Uint8Array[]
  /** Ranges of deleted ids, in the same form. */
  readonly deleted: readonly Uint8Array[]
}

/** Number of bytes of a range in JSON if all its numbers have one digit. */
const rangeBytesMin = 45

/** Returns the minimum bytes of all ranges in JSON. The work depends only on the number of clients. */
export function listedBytesMin({ inserted, deleted }: Attribution): number {
  let ranges = 0
  for (const lists of [inserted, deleted]) for (const { length } of lists.values()) ranges += length
  return ranges * rangeBytesMin
}

/**
 * Lists the origins of all ids.
 * @throws ApiError RESOURCE_EXHAUSTED if the lists together have more than `bytesMax` bytes
 */
export function listOrigins(attribution: Attribution, bytesMax: number): ListedOrigins {
  if (listedBytesMin(attribution) > bytesMax) throw responseTooLarge(bytesMax, 'request less data')
  const indexes = new Map<AttributedRange['origin'], number>()
  const indexOf = (origin: AttributedRange['origin']): number => {
    const index = indexes.get(origin) ?? indexes.size
    indexes.set(origin, index)
    return index
  }
  let bytesLeft = bytesMax
  const encoded = (value: unknown): readonly Uint8Array[] => {
    const { bytes, parts } = encodeJson(value, bytesLeft)
    bytesLeft -= bytes
    return parts
  }
  const encodedRanges = (lists: Attribution['inserted']) =>
    encoded(
      [...lists].flatMap(([client, ranges]) =>
        ranges.map(({ clock, length, origin }) => ({ client, clock, length, origin: indexOf(origin) })),
      ),
    )
  const [inserted, deleted] = [encodedRanges(attribution.inserted), encodedRanges(attribution.deleted)]
  const origins = [...indexes.keys()].map((origin) => {
    const { at, ...shown } = shownOrigin(origin)
    return { ...shown, at: at === null ? null : new Date(at).toISOString() }
  })
  return { origins: encoded(origins), inserted, deleted }
}
