import type { Key } from '../engine/engine.ts'
import { type ActivityRecord, type ActivityTraits, namedUsers, traitsOf } from './activity.ts'

/** Milliseconds of the year 9999 have 15 digits, and a transaction records fewer than 100,000 activities. */
const timeDigits = 15
const placeDigits = 5
const orderLength = timeDigits + placeDigits

/** Position of an activity among all of its organization, oldest first. */
export interface Position {
  /** Text that sorts by time. */
  readonly order: string
  readonly id: string
}

/** Keys in an organization's partition. */
export const activityKeys = {
  /** All activities of the organization, by time. */
  activities: ['activities'] as Key,
  activity: (position: Position): Key => entryAt(activityKeys.activities, position),
  /** The position of an activity. */
  position: (id: string): Key => ['activityPositions', id],
  /** Index by time: the activities with `value` as this trait, with all their traits. */
  by: (trait: keyof ActivityTraits, value: string): Key => ['activitiesBy', trait, value],
  /** Index by time: the activities that name a user other than as the acting user. */
  naming: (userId: string): Key => ['activitiesNaming', userId],
}

export const positionOf = ({ timestamp, place, id }: ActivityRecord): Position => ({
  order: String(timestamp).padStart(timeDigits, '0') + String(place).padStart(placeDigits, '0'),
  id,
})

/** Returns the key of a position under `prefix`. */
export const entryAt = (prefix: Key, { order, id }: Position): Key => [...prefix, order, id]

/** Returns the position of such a key. */
export const positionIn = (key: Key): Position => ({ order: key.at(-2) as string, id: key.at(-1) as string })

/** Encodes a position as text, for page tokens. */
export const writePosition = ({ order, id }: Position): string => order + id

/** Decodes a text of `writePosition`. */
export const readPosition = (text: string): Position => ({
  order: text.slice(0, orderLength),
  id: text.slice(orderLength),
})

/** Returns a negative number if `a` precedes `b` in every index. Compares the bytes of the id, as keys do. */
export function comparePositions(a: Position, b: Position): number {
  if (a.order !== b.order) return a.order < b.order ? -1 : 1
  return a.id === b.id ? 0 : Buffer.compare(Buffer.from(a.id), Buffer.from(b.id))
}

/** Returns the keys of all index entries of an activity. */
export function entriesOf(activity: ActivityRecord): readonly Key[] {
  const position = positionOf(activity)
  const traits = Object.entries(traitsOf(activity)) as [keyof ActivityTraits, string | null][]
  const byTraits = traits.flatMap(([trait, value]) =>
    value === null ? [] : [entryAt(activityKeys.by(trait, value), position)],
  )
  const naming = namedUsers(activity).map((userId) => entryAt(activityKeys.naming(userId), position))
  return [...byTraits, ...naming]
}
