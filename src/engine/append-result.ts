import type { Appended, AppendResult } from './engine.ts'

/** For a caller that is the only writer, or expects no head. @throws Error where another writer has appended */
export function requireAppended(result: AppendResult): Appended {
  if (result.state === 'moved') throw new Error(`another writer has appended: the log ends at ${result.head}`)
  return result
}
