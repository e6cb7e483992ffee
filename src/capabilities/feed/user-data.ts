import type { OrganizationScope } from '../../core/directory/organizations/organization-keys.ts'
import type { UserDataSource } from '../../core/directory/user-data/user-data-source.ts'
import type { FeedRemoval } from './feed-removal.ts'

/**
 * Returns the source of the events of the change feed that mention a user. An erasure keeps the events, and
 * replaces the user with the deleted user.
 */
export const feedSource = (feed: FeedRemoval): UserDataSource<OrganizationScope> => ({
  name: 'events',
  async list(scope, userId, range) {
    const { items, next } = await feed.listOfUser(scope, userId, range)
    const { organizationId } = scope
    return {
      items: items.map(({ documentId, ...data }) => ({ kind: 'event', organizationId, documentId, data })),
      next,
    }
  },
  erase: (scope, userId) => feed.eraseUser(scope, userId),
})
