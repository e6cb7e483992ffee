import * as s from '../base/schema.ts'
import type { Key } from '../store/engine.ts'
import type { RecordType } from '../store/stored-record.ts'
import { type ActivityRecord, type ActivityTraits, namedUsers, traitNames, traitsOf } from './activity.ts'

/**
 * Numbers of digits that a position uses for its time and for its place among activities with the same time.
 * Epoch milliseconds until the year 9999 have at most 15 digits, and one transaction records fewer than
 * 100,000 activities.
 */
const timeDigits = 15
const placeDigits = 5
const orderLength = timeDigits + placeDigits

/** Position of an activity in the list of all activities of its organization, oldest first. */
export interface Position {
  /** The time and the place as one text, with leading zeros. Texts in this form sort by time. */
  readonly order: string
  readonly id: string
}

export const activityPositionType: RecordType<Position> = {
  name: 'position of an activity',
  schema: s.object({ order: s.string, id: s.string }),
}

/** Keys in the partition of an organization. */
export const activityKeys = {
  /** Prefix of the keys of all activities of the organization, sorted by time. */
  activities: ['activities'],
  activity: (position: Position): Key => entryAt(activityKeys.activities, position),
  /** Key of the record that contains the position of an activity. */
  position: (id: string): Key => ['activityPositions', id],
  /**
   * Prefix of the index of the activities whose `trait` has this value, sorted by time. Each entry contains
   * all traits of its activity.
   */
  by: (trait: keyof ActivityTraits, value: string): Key => ['activitiesBy', trait, value],
  /**
   * Prefix of the index of the activities that mention a user in another role than the acting user, sorted by
   * time.
   */
  naming: (userId: string): Key => ['activitiesNaming', userId],
}

export const positionOf = ({ timestamp, place, id }: ActivityRecord): Position => ({
  order: String(timestamp).padStart(timeDigits, '0') + String(place).padStart(placeDigits, '0'),
  id,
})

/** Returns the key of a position under `prefix`. */
export const entryAt = (prefix: Key, { order, id }: Position): Key => [...prefix, order, id]

/** Returns the position from a key that `entryAt` returned. */
export function positionIn(key: Key): Position {
  const [order = '', id = ''] = key.slice(-2)
  return { order, id }
}

/** Encodes a position as text, for page tokens. */
export const writePosition = ({ order, id }: Position): string => order + id

/** Decodes a text that `writePosition` returned. */
export const readPosition = (text: string): Position => ({
  order: text.slice(0, orderLength),
  id: text.slice(orderLength),
})

/**
 * Returns a negative number if `a` precedes `b` in every index. Compares ids by their bytes, because keys are
 * sorted that way.
 */
export function comparePositions(a: Position, b: Position): number {
  if (a.order !== b.order) return a.order < b.order ? -1 : 1
  return a.id === b.id ? 0 : Buffer.compare(Buffer.from(a.id), Buffer.from(b.id))
}

/** Returns the keys of all index entries of an activity. */
export function entriesOf(activity: ActivityRecord): readonly Key[] {
  const position = positionOf(activity)
  const traits = traitsOf(activity)
  const byTraits = traitNames.flatMap((trait) => {
    const value = traits[trait]
    return value === null ? [] : [entryAt(activityKeys.by(trait, value), position)]
  })
  const naming = namedUsers(activity).map((userId) => entryAt(activityKeys.naming(userId), position))
  return [...byTraits, ...naming]
}
