import * as s from '../base/schema.ts'
import { findNamedUsers, namedUserSchema } from '../model/named-users.ts'
import type { RecordType } from '../store/stored-record.ts'

/** The acting user. All members except the id are returned as the caller sent them. */
export interface ActionUser {
  readonly userId: string
  readonly email?: string
  readonly name?: string
}

/** The subject area of an activity. */
export const featureTypes = ['comment', 'reaction', 'recorder', 'crdt', 'custom', 'administration'] as const
export type FeatureType = (typeof featureTypes)[number]

/** Feature types of activities that callers add. Only the server records activities of `administration`. */
export const addedFeatureTypes = [
  'comment',
  'reaction',
  'recorder',
  'crdt',
  'custom',
] as const satisfies readonly FeatureType[]

/**
 * Maximum size of the JSON of one activity, in bytes. The limit is necessary because a page has up to 1,000
 * activities.
 */
export const activityBytesMax = 16_384

/** A place in the view of a document, such as a page. */
export interface ActivityLocation {
  readonly id: string
  readonly locationName?: string
}

/**
 * Content of an activity. The placeholders `{{name}}` of the template are stored unchanged; the client
 * replaces them.
 */
export interface ActivityContent {
  readonly featureType: FeatureType
  /** Type of the action, for example `comment.add`. */
  readonly actionType: string
  readonly actionUser: ActionUser
  /** Id of the target of the action: an annotation, a document, a user, … */
  readonly targetEntityId?: string
  /** Place in the document. If the data of this location is deleted, the activity is deleted as well. */
  readonly location?: ActivityLocation
  readonly changes?: Readonly<Record<string, unknown>>
  readonly displayMessageTemplate?: string
  readonly displayMessageTemplateData?: Readonly<Record<string, unknown>>
}

/** An activity to record. */
export interface ActivityEvent extends ActivityContent {
  /**
   * Id of the activity within its organization. If the same id is recorded again, the new activity replaces
   * the old one and keeps its position.
   */
  readonly id: string
  /** Null if the activity belongs to the organization as a whole. */
  readonly documentId: string | null
}

export interface ActivityRecord extends ActivityEvent {
  /** Time at which the activity was first recorded, in epoch milliseconds. */
  readonly timestamp: number
  /** Order of the activity among activities with the same timestamp. */
  readonly place: number
}

// A newer version may have recorded other feature types.
const featureType = s.trusted<FeatureType>(s.string)

export const activityRecordType: RecordType<ActivityRecord> = {
  name: 'activity',
  schema: s.object(
    {
      featureType,
      actionType: s.string,
      actionUser: namedUserSchema,
      id: s.string,
      documentId: s.orNull(s.string),
      timestamp: s.number,
      place: s.number,
    },
    {
      targetEntityId: s.string,
      location: s.object({ id: s.string }, { locationName: s.string }),
      changes: s.map(s.unknown),
      displayMessageTemplate: s.string,
      displayMessageTemplateData: s.map(s.unknown),
    },
  ),
}

/** Members by which activities can be searched; null if an activity does not have the member. */
export interface ActivityTraits {
  readonly documentId: string | null
  readonly userId: string
  readonly targetEntityId: string | null
  readonly locationId: string | null
  readonly featureType: FeatureType
  readonly actionType: string
}

export const traitNames = [
  'documentId',
  'userId',
  'targetEntityId',
  'locationId',
  'featureType',
  'actionType',
] as const satisfies readonly (keyof ActivityTraits)[]

export const activityTraitsType: RecordType<ActivityTraits> = {
  name: 'index entry of an activity',
  schema: s.object({
    documentId: s.orNull(s.string),
    userId: s.string,
    targetEntityId: s.orNull(s.string),
    locationId: s.orNull(s.string),
    featureType,
    actionType: s.string,
  }),
}

export const traitsOf = (activity: ActivityEvent): ActivityTraits => ({
  documentId: activity.documentId,
  userId: activity.actionUser.userId,
  targetEntityId: activity.targetEntityId ?? null,
  locationId: activity.location?.id ?? null,
  featureType: activity.featureType,
  actionType: activity.actionType,
})

/** Prefix of the action types whose target is a user. */
export const aboutUsers = 'user.'

/** Returns the ids of the users that an activity mentions, without the acting user. */
export function namedUsers(activity: ActivityEvent): readonly string[] {
  const { actionUser, actionType, targetEntityId, changes, displayMessageTemplateData } = activity
  const named = new Set(findNamedUsers([changes, displayMessageTemplateData]))
  if (targetEntityId !== undefined && actionType.startsWith(aboutUsers)) named.add(targetEntityId)
  named.delete(actionUser.userId)
  return [...named]
}

/** Returns only those members of an object that belong to the content of an activity. */
export function contentOf<Given extends Partial<ActivityContent>>(
  given: Given,
): Pick<Given, keyof ActivityContent & keyof Given> {
  const members = contentNames.filter((name) => given[name] !== undefined).map((name) => [name, given[name]])
  return Object.fromEntries(members) as Pick<Given, keyof ActivityContent & keyof Given>
}

const contentNames = [
  'featureType',
  'actionType',
  'actionUser',
  'targetEntityId',
  'location',
  'changes',
  'displayMessageTemplate',
  'displayMessageTemplateData',
] as const satisfies readonly (keyof ActivityContent)[]
