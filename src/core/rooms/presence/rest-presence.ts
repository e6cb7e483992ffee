import * as Y from 'yjs'
import * as s from '../../base/schema.ts'
import { isRelativePosition } from '../../content/yjs/items.ts'

/** Whether a person or a program is present. */
export const presenceKinds = ['user', 'agent'] as const
export type PresenceKind = (typeof presenceKinds)[number]

/** Maximum size of the `data` of a user in bytes, as JSON. */
export const presenceDataBytesMax = 1_024

/**
 * The cursor of a user in one editor. Both positions are Yjs relative positions, encoded and in base64. The text
 * between them is selected; equal positions are a caret.
 */
export interface PresenceCursor {
  readonly editorId: string
  readonly contentKey: string
  readonly position: string
  /** The end of the selection, where the caret is. */
  readonly positionEnd: string
}

/** The fields of a user that REST has set. A field that REST has not set is undefined. */
export interface RestPresence {
  readonly name?: string | undefined
  readonly email?: string | undefined
  readonly status?: string | undefined
  readonly kind?: PresenceKind | undefined
  readonly data?: Readonly<Record<string, unknown>> | undefined
  /** Members of the caller that have no meaning for the server. */
  readonly others?: Readonly<Record<string, unknown>> | undefined
  /** Color as `#rrggbb`, which all editor bindings support. */
  readonly color?: string | undefined
  /** Null if REST has removed the cursor. */
  readonly cursor?: PresenceCursor | null | undefined
  /** Only for a writer: id of the user who writes. A writer has a record of its own, under an id that no user has. */
  readonly writerOf?: string | undefined
}

/** Returns the id of a virtual user as other users see it. */
export const shownIdOf = (userId: string, { writerOf = userId }: RestPresence): string => writerOf

/** Schema of an encoded position in a message. Clients of editors would fail if they could not read it. */
const encodedPosition = s.checked(s.string, (value) => isRelativePosition(Buffer.from(value, 'base64')))

export const presenceCursorSchema = s.object({
  editorId: s.string,
  contentKey: s.string,
  position: encodedPosition,
  positionEnd: encodedPosition,
})

/**
 * Returns the fields of a user after a REST call. Fields that the call does not set keep their earlier
 * values.
 */
export function mergeFields(before: RestPresence, after: RestPresence): RestPresence {
  return {
    name: after.name ?? before.name,
    email: after.email ?? before.email,
    status: after.status ?? before.status,
    kind: after.kind ?? before.kind,
    data: after.data ?? before.data,
    others: after.others ?? before.others,
    color: after.color ?? before.color,
    cursor: after.cursor === undefined ? before.cursor : after.cursor,
    writerOf: after.writerOf ?? before.writerOf,
  }
}

/**
 * Colors of users for whom REST has set none. Editors draw carets in these colors with a white name, and y-codemirror.next
 * confuses carets of the same color.
 */
const colors = [
  '#0b57a4',
  '#9a3412',
  '#166534',
  '#86198f',
  '#0e7490',
  '#9f1239',
  '#4338ca',
  '#854d0e',
  '#115e59',
  '#6b21a8',
  '#3f6212',
  '#1e40af',
] as const

/** Returns the color of a user for whom no color was set. A user always has the same color. */
function defaultColor(userId: string): string {
  let hash = 0
  for (let index = 0; index < userId.length; index += 1)
    hash = (Math.imul(hash, 31) + userId.charCodeAt(index)) >>> 0
  return colors[hash % colors.length] as string
}

/** The status of a user for whom no status was set. */
export const defaultStatus = 'online'

/**
 * Returns the JSON of the awareness state of a virtual user. The state does not contain the email address, which only
 * REST returns.
 *
 * The cursor has the form that the bindings y-prosemirror, y-codemirror.next and y-quill publish themselves. All
 * members of a position must be present, also if they are null, because y-codemirror.next uses them without a check.
 * @param editorId the editor whose clients receive the state; other editors do not receive the cursor
 */
export function awarenessTextOf(userId: string, fields: RestPresence, editorId: string): string {
  const {
    name = '',
    status = defaultStatus,
    kind = 'user',
    color = defaultColor(userId),
    data,
    cursor,
  } = fields
  const user = { id: userId, name, status, kind, color, data }
  if (cursor === undefined || cursor === null || cursor.editorId !== editorId) return JSON.stringify({ user })
  const [anchor, head] = [cursor.position, cursor.positionEnd].map((position) =>
    Y.decodeRelativePosition(Buffer.from(position, 'base64')),
  )
  return JSON.stringify({ user, cursor: { anchor, head } })
}
