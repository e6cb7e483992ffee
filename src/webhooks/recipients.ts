import { notificationKeys as keys } from '../directory/notifications/notification-keys.ts'
import type { NotificationConfig } from '../directory/notifications/notification-records.ts'
import { keys as organizationKeys } from '../directory/organizations/organization-keys.ts'
import type { OrganizationStore } from '../directory/organizations/organization-store.ts'
import type { UserRecord } from '../directory/store/records.ts'
import type { ActionUser } from '../events/activity.ts'
import type { QueuedEvent } from '../events/outbound-event.ts'
import type { OrganizationAddress } from '../model/address.ts'
import { effectiveConfig } from '../notifications/visibility.ts'
import type { Recipient, RecipientResolver } from './payload.ts'

/** Of a thread with more people in it, those who come first are told of. */
export const recipientsMax = 100

/** Who has written in a thread, the first one first; nobody when it is gone. */
export type FindParticipants = (
  scope: OrganizationAddress,
  annotationId: string,
) => Promise<readonly ActionUser[]>

/** What is looked at of a comment event's data. */
interface CommentData {
  readonly annotation?: {
    readonly annotationId: string
    readonly assignedTo?: ActionUser | null
    readonly createdBy?: ActionUser
  }
  readonly comment?: { readonly from: ActionUser }
}

/**
 * Whom comment events concern: who is assigned, who has begun the thread and who has written in it, but not who acted.
 * Other events concern nobody in particular. Names and e-mail addresses are those of the organization's users, else as
 * they were given; configs are those in force for the document.
 */
export class CommentRecipients implements RecipientResolver {
  readonly #store: OrganizationStore
  readonly #participants: FindParticipants

  constructor(store: OrganizationStore, participants: FindParticipants) {
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
      reader.getAll<NotificationConfig>(users.map(({ userId }) => keys.config(userId, place)))
    const records = await reader.getAll<UserRecord>(users.map(({ userId }) => organizationKeys.user(userId)))
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
