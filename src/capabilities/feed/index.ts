import { defineCapability } from '../../rest/capability.ts'
import { feedStreamDescription, feedStreamRoute } from './api/feed-stream.ts'
import { FeedRemoval } from './feed-removal.ts'
import { FeedService } from './feed-service.ts'

declare module '../../rest/services.ts' {
  interface Services {
    readonly feed: FeedService
    readonly feedRemoval: FeedRemoval
  }
}

/** The change feeds of API keys: numbered events, read with cursors. */
export const feed = defineCapability({
  name: 'feed',
  create(services) {
    const feedRemoval = new FeedRemoval(services.engine, services.clock)
    return { feedRemoval, feed: new FeedService({ ...services, feedRemoval }) }
  },
  cascade: ({ feedRemoval }) => [
    {
      async removeDocuments(scope, documentIds, goOn) {
        for (const id of documentIds) await feedRemoval.forgetDocument(scope, id, goOn)
      },
      removeOrganization: (scope, goOn) => feedRemoval.forgetOrganization(scope, goOn),
    },
  ],
  userData: ({ feedRemoval }) => ({
    // An erasure keeps the events, and replaces the user with the deleted user.
    ofOrganization: [
      {
        name: 'events',
        async list(scope, userId, range) {
          const { items, next } = await feedRemoval.listOfUser(scope, userId, range)
          const { organizationId } = scope
          return {
            items: items.map(({ documentId, ...data }) => ({
              kind: 'event',
              organizationId,
              documentId,
              data,
            })),
            next,
          }
        },
        erase: (scope, userId) => feedRemoval.eraseUser(scope, userId),
      },
    ],
  }),
  routes: (services, edge) => [feedStreamRoute(services, edge)],
  paths: [feedStreamDescription],
  start: ({ feed }) => feed.start(),
  stop: ({ feed }) => feed.stop(),
})
