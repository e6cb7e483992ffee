import { findNamedUsers } from '../model/named-users.ts'

/** Who did something; other members than the id are shown as they were given. */
export interface ActionUser {
  readonly userId: string
  readonly email?: string
  readonly name?: string
}

/** What an activity is about. */
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

/** JSON of one activity: a page answers a thousand of them. */
export const activityBytesMax = 16_384

/** A place in what is shown of a document, such as a page. */
export interface ActivityLocation {
  readonly id: string
  readonly locationName?: string
}

/** What is said of an activity. Placeholders of the template, `{{name}}`, are kept as they are, for whoever shows it. */
export interface ActivityContent {
  readonly featureType: FeatureType
  /** Such as `comment.add`. */
  readonly actionType: string
  readonly actionUser: ActionUser
  /** What was acted on: an annotation, a document, a user, … */
  readonly targetEntityId?: string
  /** The place in the document that it is about: it is deleted with the data of this location. */
  readonly location?: ActivityLocation
  readonly changes?: Readonly<Record<string, unknown>>
  readonly displayMessageTemplate?: string
  readonly displayMessageTemplateData?: Readonly<Record<string, unknown>>
}

/** Something that has happened. */
export interface ActivityEvent extends ActivityContent {
  /** Names the activity within its organization: the same id again overwrites, and keeps its place. */
  readonly id: string
  /** Null: it belongs to the organization as a whole. */
  readonly documentId: string | null
}

/** An activity as it is stored. */
export interface ActivityRecord extends ActivityEvent {
  /** Epoch milliseconds of the first time it was recorded. */
  readonly timestamp: number
  /** Its place among those of the same time. */
  readonly place: number
}

/** Members that activities are looked for by; null where an activity has none. */
export interface ActivityTraits {
  readonly documentId: string | null
  readonly userId: string
  readonly targetEntityId: string | null
  readonly locationId: string | null
  readonly featureType: FeatureType
  readonly actionType: string
}

export const traitsOf = (activity: ActivityEvent): ActivityTraits => ({
  documentId: activity.documentId,
  userId: activity.actionUser.userId,
  targetEntityId: activity.targetEntityId ?? null,
  locationId: activity.location?.id ?? null,
  featureType: activity.featureType,
  actionType: activity.actionType,
})

/** What activities about users themselves are called begins so: what they act on is a user. */
export const aboutUsers = 'user.'

/** Ids of the users that an activity names, other than who did it. */
export function namedUsers(activity: ActivityEvent): readonly string[] {
  const { actionUser, actionType, targetEntityId, changes, displayMessageTemplateData } = activity
  const named = new Set(findNamedUsers([changes, displayMessageTemplateData]))
  if (targetEntityId !== undefined && actionType.startsWith(aboutUsers)) named.add(targetEntityId)
  named.delete(actionUser.userId)
  return [...named]
}

/** What is given of the content of an activity, and no other members that an object may have. */
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
