import { inSlices } from '../directory/items.ts'
import { ApiError } from '../errors.ts'
import type { ActionUser } from '../events/activity.ts'
import type { StoredEvent } from '../events/outbound.ts'
import type { NotificationConfigs } from '../notifications/configs.ts'
import type { Recipient, Recipients } from './payload.ts'

/** Recipients of one event: in a thread of more, those who came first. */
const recipientsMax = 100

/** Whom comments concern: who is assigned, and who has said something in the thread; not who acts. */
export class ThreadRecipients implements Recipients {
  readonly #configs: NotificationConfigs

  constructor(configs: NotificationConfigs) {
    this.#configs = configs
  }

  async of(event: StoredEvent): Promise<readonly Recipient[]> {
    const users = new Map(usersOf(event.data.annotation).map((user) => [user.userId, user]))
    users.delete(event.actionUser.userId)
    const concerned = [...users.values()].slice(0, recipientsMax)
    try {
      return await inSlices(concerned, (user) => this.#recipient(event, user))
    } catch (error) {
      // What is deleted concerns nobody any more.
      if (error instanceof ApiError && error.status === 'NOT_FOUND') return []
      throw error
    }
  }

  async #recipient({ scope, documentId }: StoredEvent, user: ActionUser): Promise<Recipient> {
    const [entry] = await this.#configs.get(scope, user.userId, [documentId])
    if (entry === undefined) throw new ApiError('NOT_FOUND', 'there is no such place')
    return { ...user, notificationConfig: entry.effective }
  }
}

function usersOf(annotation: unknown): readonly ActionUser[] {
  const { assignedTo, comments } = membersOf(annotation)
  const authors = Array.isArray(comments) ? comments.map((comment) => membersOf(comment).from) : []
  return [assignedTo, ...authors].filter(isUser)
}

const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}

const isUser = (value: unknown): value is ActionUser => typeof membersOf(value).userId === 'string'
