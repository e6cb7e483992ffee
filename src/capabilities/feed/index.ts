import { defineCapability } from '../../rest/capability.ts'
import { feedStreamRoute } from './api/feed-stream.ts'
import { feedStreamDescription } from './api/feed-stream-description.ts'
import { getFeed } from './api/v2/feed/get.ts'
import { getFeedConfig } from './api/v2/workspace/feed/get.ts'
import { updateFeedConfig } from './api/v2/workspace/feed/update.ts'
import type { FeedRemoval } from './feed-removal.ts'
import { createFeedRemoval, FeedService } from './feed-service.ts'
import { feedSource } from './user-data.ts'

interface Added {
  readonly feed: FeedService
  readonly feedRemoval: FeedRemoval
}

declare module '../../rest/services.ts' {
  interface Services extends Added {}
}

/** The change feeds of API keys: numbered events, read with cursors. */
export const feed = defineCapability({
  name: 'feed',
  operations: [getFeed, getFeedConfig, updateFeedConfig],
  create(services) {
    const { engine, clock, store, feedConfigs } = services
    const feedRemoval = createFeedRemoval(engine, clock)
    const feed = new FeedService({
      ...services,
      organizations: store,
      removal: feedRemoval,
      configs: feedConfigs,
    })
    return { feed, feedRemoval }
  },
  cascade: ({ feedRemoval }) => [
    {
      async removeDocuments(scope, documentIds, goOn) {
        for (const id of documentIds) await feedRemoval.forgetDocument(scope, id, goOn)
      },
      removeOrganization: (scope, goOn) => feedRemoval.forgetOrganization(scope, goOn),
    },
  ],
  userData: ({ feedRemoval }) => ({ ofOrganization: [feedSource(feedRemoval)] }),
  routes: (services, edge) => [feedStreamRoute(services, edge)],
  paths: [feedStreamDescription],
  start: ({ feed }) => feed.start(),
  stop: ({ feed }) => feed.stop(),
})
