import type { EditAuthor } from '../../events/debounce-windows.ts'
import type { AppliedUpdate } from '../room/broadcast.ts'

/**
 * Returns the authors in the order of their updates. An author may appear again, but not in a row: most commits have
 * one author.
 */
export function authorsOf(updates: readonly AppliedUpdate[]): readonly EditAuthor[] {
  const editors = updates.slice(0, 1).map(editorOf)
  let last = updates[0]
  for (const update of updates) {
    if (update.from !== last?.from || update.by !== last.by) editors.push(editorOf(update))
    last = update
  }
  return editors
}

const editorOf = ({ by, from }: AppliedUpdate): EditAuthor =>
  from === null ? { userId: by } : { userId: by, name: from.user.name }

export const updateBytesOf = (updates: readonly AppliedUpdate[]): number => {
  let sum = 0
  for (const { bytes } of updates) sum += bytes.length
  return sum
}
