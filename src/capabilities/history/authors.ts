import { versionLimits } from './limits.ts'
import type { Author } from './version-keys.ts'

/**
 * Returns the authors together with further ones. Each user appears once, with the time of the user's first
 * edit. Authors are sorted by this time. Only the first `versionLimits.authors` authors are kept.
 */
export function withAuthors(authors: readonly Author[], more: readonly Author[]): readonly Author[] {
  const all = [...authors, ...more].sort((a, b) => a.at - b.at)
  const seen = new Set<string>()
  return all.filter(({ userId }) => !seen.has(userId) && seen.add(userId)).slice(0, versionLimits.authors)
}
