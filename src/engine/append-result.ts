import type { Appended, AppendResult } from './engine.ts'

/**
 * Returns the result for a caller that is the only writer or expects no head.
 * @throws Error if another writer has appended
 */
export function requireAppended(result: AppendResult): Appended {
  if (result.state === 'moved') throw new Error(`another writer has appended: the log ends at ${result.head}`)
  return result
}
