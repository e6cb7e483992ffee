import { keys as organizationKeys } from '../../../core/directory/organizations/organization-keys.ts'
import type { OrganizationStore } from '../../../core/directory/organizations/organization-store.ts'
import { type UserRecord, userRecordType } from '../../../core/directory/store/records.ts'
import type { ActionUser } from '../../../core/events/activity.ts'
import type { QueuedEvent } from '../../../core/events/outbound-event.ts'
import type { OrganizationAddress } from '../../../core/model/address.ts'
import { participantsOf } from '../../comments/find-comments.ts'
import { notificationKeys as keys } from '../../notifications/notification-keys.ts'
import { notificationConfigType } from '../../notifications/notification-records.ts'
import { effectiveConfig } from '../../notifications/visibility.ts'
import type { Recipient } from './payload.ts'

/** Maximum number of recipients. Further authors of a thread are left out. */
export const recipientsMax = 100

/**
 * Returns the authors of a thread, the first author first. Returns an empty list if the thread was deleted.
 */
type FindParticipants = (scope: OrganizationAddress, annotationId: string) => Promise<readonly ActionUser[]>

/** The members of a comment event's data from which recipients are found. */
interface CommentData {
  readonly annotation?: {
    readonly annotationId: string
    readonly assignedTo?: ActionUser | null
    readonly createdBy?: ActionUser
  }
  readonly comment?: { readonly from: ActionUser }
}

/**
 * Finds the users whom a comment event concerns: the assignee, the creator and the authors of the thread,
 * except for the acting user. Other events have no recipients. Names and e-mail addresses come from the user
 * records of the organization if they exist, otherwise from the event. Each recipient has the notification
 * config that applies to the document.
 */
export class CommentRecipients {
  readonly #store: OrganizationStore
  readonly #participants: FindParticipants

  constructor(
    store: OrganizationStore,
    participants: FindParticipants = (scope, annotationId) => participantsOf(store.read(scope), annotationId),
  ) {
    this.#store = store
    this.#participants = participants
  }

  async of(event: QueuedEvent): Promise<readonly Recipient[]> {
    const { annotation, comment } = event.data as CommentData
    if (annotation === undefined) return []
    const written = await this.#participants(event.scope, annotation.annotationId)
    const concerned = [annotation.assignedTo, annotation.createdBy, comment?.from, ...written]
    const users = new Map<string, ActionUser>()
    for (const user of concerned)
      if (user && user.userId !== event.actionUser.userId && !users.has(user.userId))
        users.set(user.userId, user)
    return this.#known(event, [...users.values()].slice(0, recipientsMax))
  }

  async #known(
    { scope, documentId }: QueuedEvent,
    users: readonly ActionUser[],
  ): Promise<readonly Recipient[]> {
    const reader = this.#store.read(scope)
    const configsOf = (place: string | null) =>
      reader.getAll(
        users.map(({ userId }) => keys.config(userId, place)),
        notificationConfigType,
      )
    const records = await reader.getAll(
      users.map(({ userId }) => organizationKeys.user(userId)),
      userRecordType,
    )
    const [ofOrganization, ofDocument] = [await configsOf(null), await configsOf(documentId)]
    return users.map((given, at) => ({
      ...named(given, records[at] ?? null),
      notificationConfig: effectiveConfig(ofOrganization[at] ?? null, ofDocument[at] ?? null),
    }))
  }
}

function named({ userId, ...given }: ActionUser, record: UserRecord | null): ActionUser {
  const name = record?.name || given.name
  const email = record?.email || given.email
  return { userId, ...(name && { name }), ...(email && { email }) }
}
