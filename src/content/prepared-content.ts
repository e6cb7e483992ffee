import { type CheckedContent, type ContentTarget, checkContent, checkTarget } from './replace.ts'

/** A target that is ready for a document. */
export interface PreparedContent {
  readonly target: ContentTarget
  /**
   * Approximate size of the content, in characters: exact for strings, and at most slightly over the bound
   * for large content.
   */
  readonly size: number
  /** Null if the content is large: then the thread that replaces it also checks it. */
  readonly checked: CheckedContent | null
}

/**
 * Runs the inexpensive part of `checkContent`: all checks for content of at most `sizeMax` characters.
 * @throws ApiError INVALID_ARGUMENT
 */
export function prepareContent(target: ContentTarget, sizeMax: number): PreparedContent {
  const size = sizeOf(target.data, sizeMax)
  if (size <= sizeMax) return { target, size, checked: checkContent(target) }
  checkTarget(target)
  return { target, size, checked: null }
}

/** Size of a value without its strings. */
const valueSize = 8

/** Reads only as much of a value as is needed to know that it exceeds `sizeMax`. */
function sizeOf(data: unknown, sizeMax: number): number {
  const waiting: unknown[] = [data]
  let size = 0
  while (waiting.length > 0 && size <= sizeMax) {
    const value = waiting.pop()
    if (typeof value === 'string') size += value.length
    else size += valueSize
    if (typeof value !== 'object' || value === null) continue
    if (!Array.isArray(value)) for (const key of Object.keys(value)) size += key.length
    // Counts all members at once, so that a long list is not read completely.
    const members: unknown[] = Array.isArray(value) ? value : Object.values(value)
    if (size + members.length * valueSize > sizeMax) return size + members.length * valueSize
    for (const member of members) waiting.push(member)
  }
  return size
}
