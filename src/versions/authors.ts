import { versionLimits } from './limits.ts'
import type { Author } from './version-keys.ts'

/** With somebody who edited; of the same user the first edit counts. The first ones come first, and stay. */
export function withAuthors(authors: readonly Author[], more: readonly Author[]): readonly Author[] {
  const all = [...authors, ...more].sort((a, b) => a.at - b.at)
  const seen = new Set<string>()
  return all.filter(({ userId }) => !seen.has(userId) && seen.add(userId)).slice(0, versionLimits.authors)
}
