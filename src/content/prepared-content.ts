import { type CheckedContent, type ContentTarget, checkContent, checkTarget } from './replace.ts'

/** A target on its way to a document. */
export interface PreparedContent {
  readonly target: ContentTarget
  /** About what the content takes, in characters; exact for strings, at most a little over the bound for what is large. */
  readonly size: number
  /** Null where the content is large: then checking it is part of the work that is done elsewhere. */
  readonly checked: CheckedContent | null
}

/**
 * Does the checks of `checkContent` as far as they are cheap: all of them for content of at most `sizeMax` characters.
 * Throws INVALID_ARGUMENT.
 */
export function prepareContent(target: ContentTarget, sizeMax: number): PreparedContent {
  const size = sizeOf(target.data, sizeMax)
  if (size <= sizeMax) return { target, size, checked: checkContent(target) }
  checkTarget(target)
  return { target, size, checked: null }
}

/** What a value besides its strings counts. */
const valueSize = 8

/** Looks at no more of a value than it takes to know that it is larger than `sizeMax`. */
function sizeOf(data: unknown, sizeMax: number): number {
  const waiting: unknown[] = [data]
  let size = 0
  while (waiting.length > 0 && size <= sizeMax) {
    const value = waiting.pop()
    if (typeof value === 'string') size += value.length
    else size += valueSize
    if (typeof value !== 'object' || value === null) continue
    if (!Array.isArray(value)) for (const key of Object.keys(value)) size += key.length
    // Each member counts at once, so that a long list isn't taken up whole.
    const members: unknown[] = Array.isArray(value) ? value : Object.values(value)
    if (size + members.length * valueSize > sizeMax) return size + members.length * valueSize
    for (const member of members) waiting.push(member)
  }
  return size
}
