import type { ChangeMeta, ChangeOrigin } from '../../model/change-origin.ts'

/** Ids of one client from `clock`, for `length` clocks, that one change has inserted or deleted. */
export interface AttributedRange {
  readonly clock: number
  readonly length: number
  readonly origin: ChangeOrigin
}

/**
 * The origins of the inserted ids of a document, and of the deleted ones, by client. The ranges of one client are
 * disjoint and in the order of their clocks. An id that no range contains has an unknown origin.
 */
export interface Attribution {
  readonly inserted: ReadonlyMap<number, readonly AttributedRange[]>
  readonly deleted: ReadonlyMap<number, readonly AttributedRange[]>
}

/** The attribution of a document in which all origins are unknown. */
export const noAttribution: Attribution = { inserted: new Map(), deleted: new Map() }

/** Numbers of ids that a user has inserted and deleted. */
export interface AuthorShare {
  readonly inserted: number
  readonly deleted: number
}

export function shareOf({ inserted, deleted }: Attribution, userId: string): AuthorShare {
  const count = (lists: Attribution['inserted']): number => {
    let sum = 0
    for (const ranges of lists.values())
      for (const { length, origin } of ranges) if (isNamedIn(origin, userId)) sum += length
    return sum
  }
  return { inserted: count(inserted), deleted: count(deleted) }
}

/** Returns whether a user has made a change, or the data of the change names the user. */
export const isNamedIn = (
  { by, meta }: { readonly by: string; readonly meta?: ChangeMeta | null | undefined },
  userId: string,
): boolean => by === userId || Object.values(meta ?? {}).includes(userId)

/** Returns data of a change without the members that are the id of a user. */
export const metaWithoutUser = (meta: ChangeMeta, userId: string): ChangeMeta =>
  Object.fromEntries(Object.entries(meta).filter(([, value]) => value !== userId))

/**
 * Returns the attribution with an unknown author instead of a user, without the data of the user's changes, and
 * without the id of the user in the data of other changes.
 */
export function withoutAuthor({ inserted, deleted }: Attribution, userId: string): Attribution {
  const replaced = new Map<ChangeOrigin, ChangeOrigin>()
  const replacement = (origin: ChangeOrigin): ChangeOrigin => {
    if (!isNamedIn(origin, userId)) return origin
    const { by, meta } = origin
    const nameless =
      by === userId
        ? { by: '', meta: null }
        : { by, meta: meta === null ? null : metaWithoutUser(meta, userId) }
    const known = replaced.get(origin) ?? { ...origin, ...nameless }
    replaced.set(origin, known)
    return known
  }
  const without = (lists: Attribution['inserted']): Map<number, readonly AttributedRange[]> =>
    new Map(
      [...lists].map(([client, ranges]) => [
        client,
        ranges.map((range) => ({ ...range, origin: replacement(range.origin) })),
      ]),
    )
  return { inserted: without(inserted), deleted: without(deleted) }
}
