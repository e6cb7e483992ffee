import { isDeepStrictEqual } from 'node:util'
import { deletedUserId } from '../model/deleted-user.ts'
import { deletedUser, findNamedUsers, namedUsersMax, withoutUser } from '../model/named-users.ts'
import {
  type ActivityEvent,
  type ActivityRecord,
  aboutUsers,
  activityRecordType,
  traitsOf,
} from './activity.ts'
import {
  activityKeys,
  activityPositionType,
  entriesOf,
  type Position,
  positionIn,
  positionOf,
} from './activity-keys.ts'
import { type ActivityQuery, type Chunk, matcher, readChunk } from './activity-query.ts'
import type { PartitionReader, PartitionWriter } from './partition.ts'

/**
 * Writes activities. An activity whose id already exists is overwritten, and keeps its position.
 * @param now epoch milliseconds
 */
export async function writeActivities(
  transaction: PartitionWriter,
  events: readonly ActivityEvent[],
  now: number,
): Promise<void> {
  const known = await readActivities(
    transaction,
    events.map(({ id }) => id),
  )
  for (const [place, event] of events.entries()) {
    const before = known.get(event.id)
    if (before === undefined) putActivity(transaction, { ...event, timestamp: now, place })
    else replaceActivity(transaction, before, { ...event, timestamp: before.timestamp, place: before.place })
  }
}

/**
 * Writes activities without reading existing activities. The ids of the given activities must have just been
 * generated.
 * @param now epoch milliseconds
 */
export function putNewActivities(
  transaction: PartitionWriter,
  events: readonly ActivityEvent[],
  now: number,
): void {
  for (const [place, event] of events.entries()) putActivity(transaction, { ...event, timestamp: now, place })
}

/** Returns the activities with the given ids, by id. Ids that do not exist are left out. */
export async function readActivities(
  reader: PartitionReader,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ActivityRecord>> {
  const positions = await reader.getAll(ids.map(activityKeys.position), activityPositionType)
  const known = positions.filter((position) => position !== null)
  const activities = await reader.getAll(known.map(activityKeys.activity), activityRecordType)
  return new Map(activities.flatMap((activity) => (activity === null ? [] : [[activity.id, activity]])))
}

/**
 * Removes up to `limit` activities of a document. Returns the number of removed activities; 0 if the document
 * has no activities any more.
 */
export async function removeActivitiesOf(
  transaction: PartitionWriter,
  documentId: string,
  limit: number,
): Promise<number> {
  const prefix = activityKeys.by('documentId', documentId)
  const entries = await transaction.scan({ prefix, limit })
  const positions = entries.map(({ key }) => positionIn(key))
  const activities = await transaction.getAll(positions.map(activityKeys.activity), activityRecordType)
  for (const activity of activities) if (activity !== null) removeActivity(transaction, activity)
  return entries.length
}

/**
 * Removes activities that match the query, but always fewer than twice `limit`. Returns the number of removed
 * activities. If this number is less than `limit`, no matching activity remains.
 * @param trait the trait whose index is read; the query must contain a value for this trait
 */
export async function removeActivitiesBy<Trait extends 'targetEntityId' | 'locationId'>(
  transaction: PartitionWriter,
  trait: Trait,
  query: ActivityQuery & { readonly [T in Trait]: string },
  limit: number,
): Promise<number> {
  const index = [activityKeys.by(trait, query[trait])]
  const fits = matcher(query)
  const range = { order: 'asc', limit } as const
  const positions: Position[] = []
  for (let after: Position | null = null; ; ) {
    const chunk: Chunk = await readChunk(transaction, index, { ...range, after })
    const fitting = chunk.entries.filter(({ traits }) => fits(traits))
    positions.push(...fitting.map(({ position }) => position))
    after = chunk.until
    if (after === null || positions.length >= limit) break
  }
  const activities = await transaction.getAll(positions.map(activityKeys.activity), activityRecordType)
  for (const activity of activities) if (activity !== null) removeActivity(transaction, activity)
  return positions.length
}

export function removeActivity(transaction: PartitionWriter, activity: ActivityRecord): void {
  transaction.delete(activityKeys.activity(positionOf(activity)))
  transaction.delete(activityKeys.position(activity.id))
  for (const key of entriesOf(activity)) transaction.delete(key)
}

/**
 * Replaces a stored activity by an activity with the same id and position. Does not write index entries that stay the
 * same.
 */
export function replaceActivity(
  transaction: PartitionWriter,
  before: ActivityRecord,
  after: ActivityRecord,
): void {
  const indexOf = (activity: ActivityRecord) => [traitsOf(activity), entriesOf(activity)]
  if (isDeepStrictEqual(indexOf(before), indexOf(after)))
    return transaction.put(activityKeys.activity(positionOf(after)), after)
  removeActivity(transaction, before)
  putActivity(transaction, after)
}

function putActivity(transaction: PartitionWriter, activity: ActivityRecord): void {
  const position = positionOf(activity)
  transaction.put(activityKeys.activity(position), activity)
  transaction.put(activityKeys.position(activity.id), position)
  const traits = traitsOf(activity)
  for (const key of entriesOf(activity)) transaction.put(key, traits)
}

/** Returns whether an activity mentions more users than the index accepts. */
export const namesTooManyUsers = ({ changes, displayMessageTemplateData }: ActivityEvent): boolean =>
  findNamedUsers([changes, displayMessageTemplateData]).size > namedUsersMax

/**
 * Prefixes of the indexes that contain the activities of a user: activities by the user, and activities that
 * mention the user.
 */
export const activityRangesOf = (userId: string) =>
  [activityKeys.by('userId', userId), activityKeys.naming(userId)] as const

/**
 * Anonymizes up to `limit` activities in each of the two index ranges of a user. Returns the number of
 * anonymized activities; 0 if the user has no activities any more.
 */
export async function anonymizeActivities(
  transaction: PartitionWriter,
  userId: string,
  limit: number,
): Promise<number> {
  const ranges = await Promise.all(
    activityRangesOf(userId).map((prefix) => transaction.scan({ prefix, limit })),
  )
  const positions = ranges.flat().map(({ key }) => positionIn(key))
  const unique = [...new Map(positions.map((position) => [position.id, position])).values()]
  const activities = await transaction.getAll(unique.map(keyAt), activityRecordType)
  const found = activities.filter((activity) => activity !== null)
  await writeActivities(
    transaction,
    found.map((activity) => anonymizedActivity(activity, userId)),
    0,
  )
  return found.length
}

const keyAt = (position: Position) => activityKeys.activity(position)

/** Returns the activity with the given user replaced by the deleted user. */
function anonymizedActivity<Event extends ActivityEvent>(activity: Event, userId: string): Event {
  const { actionUser, targetEntityId, actionType, changes, displayMessageTemplateData: data } = activity
  const isActor = actionUser.userId === userId
  const known = isActor ? actionUser : { userId }
  const isTarget = targetEntityId === userId && actionType.startsWith(aboutUsers)
  const cleanData = withoutUser(data, known)
  return {
    ...activity,
    ...(isActor && { actionUser: deletedUser }),
    ...(isTarget && { targetEntityId: deletedUserId }),
    ...(changes !== undefined && { changes: withoutUser(changes, known) }),
    ...(cleanData !== undefined && {
      displayMessageTemplateData: isTarget ? withoutId(cleanData, userId) : cleanData,
    }),
  }
}

const withoutId = (data: Readonly<Record<string, unknown>>, userId: string) =>
  Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, value === userId ? deletedUserId : value]),
  )
