import { type ActivityEvent, type ActivityRecord, activityRecordType, traitsOf } from './activity.ts'
import {
  activityKeys,
  activityPositionType,
  entriesOf,
  type Position,
  positionIn,
  positionOf,
} from './activity-keys.ts'
import { type ActivityQuery, matcher } from './activity-query.ts'
import { type Chunk, readChunk } from './index-chunk.ts'
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
    const before = known.get(event.id) ?? null
    if (before !== null) removeActivity(transaction, before)
    putActivity(transaction, {
      ...event,
      timestamp: before?.timestamp ?? now,
      place: before?.place ?? place,
    })
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

/** Replaces a stored activity by an activity with the same id and position. */
export function replaceActivity(
  transaction: PartitionWriter,
  before: ActivityRecord,
  after: ActivityRecord,
): void {
  removeActivity(transaction, before)
  putActivity(transaction, after)
}

function putActivity(transaction: PartitionWriter, activity: ActivityRecord): void {
  const position = positionOf(activity)
  transaction.put(activityKeys.activity(position), activity)
  transaction.put(activityKeys.position(activity.id), position)
  for (const key of entriesOf(activity)) transaction.put(key, traitsOf(activity))
}
