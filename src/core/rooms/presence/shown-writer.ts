import { randomUUID } from 'node:crypto'
import type * as Y from 'yjs'
import { encodePosition } from '../../content/edit/targets/anchor-positions.ts'
import type { PresenceCursor, RestPresence } from './rest-presence.ts'
import type { VirtualUserList } from './virtual-users.ts'

/** A program that writes into an editor, as other users see it. */
export interface NewWriter extends Pick<RestPresence, 'name' | 'kind' | 'data' | 'color'> {
  /** Id of the user who writes. A user can have several writers. */
  readonly userId: string
  readonly editorId: string
  readonly contentKey: string
  /** Where the writer inserts its next text. */
  readonly cursor: Y.RelativePosition
}

/** The caret of a writer. It is visible until `end`. */
export interface ShownWriter {
  /** Moves the caret. Clients see the last of several fast moves. */
  move(cursor: Y.RelativePosition): void
  end(): void
}

/**
 * Shows a writer. A user can have several writers, and can also be present with a socket or by REST. Nothing is
 * shown if the limits for virtual users are reached.
 */
export function showWriter(virtualUsers: VirtualUserList, writer: NewWriter): ShownWriter {
  if (!virtualUsers.hasRoom) return { move: () => {}, end: () => {} }
  const { userId: writerOf, name, kind, data, color, editorId, contentKey } = writer
  const cursorAt = (place: Y.RelativePosition): PresenceCursor => {
    const position = encodePosition(place)
    return { editorId, contentKey, position, positionEnd: position }
  }
  // Ids of users have no control characters.
  const id = `\u0001${randomUUID()}`
  const fields = { name, kind, data, color, writerOf, cursor: cursorAt(writer.cursor) }
  virtualUsers.set(id, fields, Number.POSITIVE_INFINITY)
  return {
    // REST may have deleted the user or the document meanwhile.
    move: (cursor) => {
      if (virtualUsers.get(id) !== undefined) virtualUsers.set(id, { cursor: cursorAt(cursor) })
    },
    end: () => virtualUsers.remove([id]),
  }
}
