import { isDeepStrictEqual } from 'node:util'
import { ItemRejectedError } from './batch.ts'
import type { Metadata } from './records.ts'

/** Maximum size of the JSON of the other members of a record, in bytes. */
export const othersBytesMax = 4_096

/**
 * Returns a copy of a record in which the given members are changed. `lastUpdated` advances only if at least
 * one member changes.
 */
export function patchRecord<R extends { readonly lastUpdated: number }>(
  record: R,
  changes: { readonly [K in keyof R]?: R[K] | undefined },
  now: number,
): R {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined)
  const next = { ...record, ...(Object.fromEntries(given) as Partial<R>) }
  return isDeepStrictEqual(next, record) ? record : { ...next, lastUpdated: now }
}

/**
 * Returns the other members of a record after a change: null removes a member. Returns undefined if the change has
 * none.
 * @throws ItemRejectedError if they would be too large
 */
export function patchOthers(before: Metadata = {}, changes: Metadata | undefined): Metadata | undefined {
  if (changes === undefined) return undefined
  const all = Object.entries({ ...before, ...changes }).filter(([, value]) => value !== null)
  const next = Object.fromEntries(all)
  if (Buffer.byteLength(JSON.stringify(next)) <= othersBytesMax) return next
  throw new ItemRejectedError(
    'request/invalid-member',
    `has more than ${othersBytesMax} bytes of JSON in members that are not listed; remove some with null`,
  )
}
