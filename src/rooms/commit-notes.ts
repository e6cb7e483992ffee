import type { Editor } from '../events/windows.ts'
import type { RoomUpdate } from './delivery.ts'

/** Somebody may come twice, but not in a row: in most commits there is one. */
export function editorsOf(updates: readonly RoomUpdate[]): readonly Editor[] {
  const editors = updates.slice(0, 1).map(editorOf)
  let last = updates[0]
  for (const update of updates) {
    if (update.from !== last?.from || update.by !== last.by) editors.push(editorOf(update))
    last = update
  }
  return editors
}

const editorOf = ({ by, from }: RoomUpdate): Editor =>
  from === null ? { userId: by } : { userId: by, name: from.user.name }

export const bytesOf = (updates: readonly RoomUpdate[]): number => {
  let sum = 0
  for (const { bytes } of updates) sum += bytes.length
  return sum
}
