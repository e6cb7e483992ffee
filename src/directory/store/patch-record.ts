import { isDeepStrictEqual } from 'node:util'

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
