import { deletedUserId } from '../model/deleted-user.ts'
import { deletedUser, findNamedUsers, namedUsersMax, withoutUser } from '../model/named-users.ts'
import { type ActivityEvent, aboutUsers, activityRecordType } from './activity.ts'
import { activityKeys, type Position, positionIn } from './activity-keys.ts'
import { writeActivities } from './activity-store.ts'
import type { PartitionWriter } from './partition.ts'

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
