import type { ChangeOrigin } from '../../model/change-origin.ts'
import type { AttributedRange, Attribution } from './attribution.ts'

/** Numbers of ids that a user has inserted and deleted. */
export interface AuthorShare {
  readonly inserted: number
  readonly deleted: number
}

export function shareOf({ inserted, deleted }: Attribution, userId: string): AuthorShare {
  const count = (lists: Attribution['inserted']): number => {
    let sum = 0
    for (const ranges of lists.values())
      for (const { length, origin } of ranges) if (origin.by === userId) sum += length
    return sum
  }
  return { inserted: count(inserted), deleted: count(deleted) }
}

/** Returns the attribution with an unknown author instead of a user, and without the data of the user's changes. */
export function withoutAuthor({ inserted, deleted }: Attribution, userId: string): Attribution {
  const replaced = new Map<ChangeOrigin, ChangeOrigin>()
  const replacement = (origin: ChangeOrigin): ChangeOrigin => {
    if (origin.by !== userId) return origin
    const known = replaced.get(origin) ?? { ...origin, by: '', meta: null }
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
