import { notificationLimits } from './limits.ts'
import type { NotificationRecord, NotifiedUser } from './notification-records.ts'

const placeholder = /\{([^{}]+)\}/g

/**
 * Renders the headline for a recipient. If `recipient` is null, the headline has no recipient. Each
 * placeholder `{name}` is replaced with the member `name` of the template's data. Texts, numbers and booleans
 * are inserted as they are, and a user is inserted as the user's name. `{actionUser}` becomes the acting user
 * and `{recipientUser}` the recipient, unless the data has members with these names. Unknown placeholders
 * stay unchanged. Inserted text is not searched for placeholders. The result has at most `headlineLength`
 * characters.
 */
export function renderHeadline(record: NotificationRecord, recipient: NotifiedUser | null): string {
  const values = valuesOf(record, recipient)
  let room: number = notificationLimits.headlineLength
  const parts: string[] = []
  const push = (text: string) => {
    if (room > 0) parts.push(text.slice(0, room))
    room -= text.length
  }
  const template = record.displayHeadlineMessageTemplate
  let at = 0
  for (const match of template.matchAll(placeholder)) {
    push(template.slice(at, match.index))
    push(values.get(match[1] as string) ?? match[0])
    at = match.index + match[0].length
  }
  push(template.slice(at))
  // A high surrogate at the end is half of a character, so it is removed.
  return parts.join('').replace(/[\uD800-\uDBFF]$/, '')
}

/**
 * Returns the values of the placeholders by name. The result is a map, because a name from the data could
 * change the prototype of a plain object.
 */
function valuesOf(
  { actionUser, displayHeadlineMessageTemplateData: data }: NotificationRecord,
  recipient: NotifiedUser | null,
): ReadonlyMap<string, string> {
  const values = new Map([['actionUser', nameOf(actionUser)]])
  for (const [name, value] of Object.entries(data)) {
    const text = textOf(value)
    if (text !== null) values.set(name, text)
  }
  if (recipient !== null && !values.has('recipientUser')) values.set('recipientUser', nameOf(recipient))
  return values
}

const nameOf = ({ userId, name }: NotifiedUser): string => name || userId

/** Returns the text to insert for a value. Returns null if the value has no such text. */
function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'object' || value === null) return null
  const members = new Map(Object.entries(value))
  const text = members.get('name') || members.get('userId')
  return typeof text === 'string' ? text : null
}
