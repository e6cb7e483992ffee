import type { Appended, AppendResult } from './engine.ts'

/**
 * Returns the result of an append that cannot be `moved`, because the caller is the only writer or did not
 * pass `expectHead`.
 * @throws Error if the result is `moved` nevertheless
 */
export function requireAppended(result: AppendResult): Appended {
  if (result.state === 'moved') throw new Error(`another writer has appended: the log ends at ${result.head}`)
  return result
}
