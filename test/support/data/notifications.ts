import { organizationPart } from '../../../src/core/directory/organizations/organization-keys.ts'
import type { ItemResults, PeopleServer } from '../servers/acme-server.ts'
import { type Answer, dataOf } from '../servers/server.ts'
import { scopeOf } from './directory.ts'

export interface NotificationRow {
  readonly id: string
  readonly documentId: string
  readonly displayHeadlineMessage: string
  readonly readByUserIds: readonly string[]
  readonly createdAt: number
  readonly lastUpdated: number
  readonly [member: string]: unknown
}

/** A notification with the required members only. Tests add the members that they need. */
export const plainNotification = {
  documentId: 'd1',
  actionUser: { userId: 'eve', name: 'Eve' },
  displayHeadlineMessageTemplate: 'Hello {recipientUser}',
  displayBodyMessage: 'body',
  notifyUsers: [],
}

/** Returns all pages of a list. Calls `between` before each page except the first. */
export async function allPages(
  get: (more: object) => Promise<Answer>,
  between: () => Promise<unknown> = async () => {},
): Promise<readonly (readonly NotificationRow[])[]> {
  const pages: (readonly NotificationRow[])[] = []
  for (let more: object | null = {}; more !== null; ) {
    const answer: Answer = await get(more)
    pages.push(dataOf(answer) as readonly NotificationRow[])
    const { pageToken } = answer.body.result as { pageToken?: string }
    more = pageToken === undefined ? null : { pageToken }
    if (more !== null) await between()
  }
  return pages
}

/** Creates an organization with the documents `d1` to `d3` and with users. */
export async function notificationsOf(
  server: PeopleServer,
  organizationId: string,
  userIds: readonly string[] = [],
) {
  const scope = scopeOf(server.credentials, organizationId)
  await server.directory.organizations.ensure(scope)
  const documents = ['d1', 'd2', 'd3'].map((documentId) => ({ documentId }))
  await server.directory.documents.add(scope, documents, { createFolder: false })
  const post = (path: string, data: object) => server.post(path, { organizationId, ...data })
  const call = <Data>(path: string, data: object) => server.call<Data>(path, { organizationId, ...data })
  const addUsers = (ids: readonly string[]) =>
    call('/v2/users/add', { users: ids.map((userId) => ({ userId })) })
  if (userIds.length > 0) await addUsers(userIds)
  return {
    scope,
    post,
    call,
    addUsers,
    add: (data: object = {}) =>
      call<{ success: boolean; notificationId: string }>('/v1/notifications/add', {
        ...plainNotification,
        ...data,
      }),
    get: (data: object = {}) => call<NotificationRow[]>('/v2/notifications/get', data),
    ids: async (data: object = {}) =>
      (await call<NotificationRow[]>('/v2/notifications/get', data)).map(({ id }) => id),
    update: (...notifications: object[]) => call<ItemResults>('/v2/notifications/update', { notifications }),
    remove: (data: object) => call<ItemResults>('/v2/notifications/delete', data),
    configure: (userIdsGiven: readonly string[], config: object, documentIds?: readonly string[]) =>
      call<ItemResults>('/v2/notifications/config/set', { userIds: userIdsGiven, config, documentIds }),
    /** Returns all stored keys of notifications. */
    stored: async () => {
      const entries = await server.engine.kv.scan(organizationPart(scope), { limit: 100_000 })
      return entries.map(({ key }) => key).filter(([kind = '']) => kind.startsWith('notification'))
    },
  }
}
