import type { OrganizationStore } from '../../core/directory/organizations/organization-store.ts'
import type { UserDataSourceList } from '../../core/directory/user-data/user-data-source.ts'
import type { PresenceRegistry } from '../../core/rooms/presence/presence-registry.ts'
import type { RoomRegistry } from '../../core/rooms/room/room-registry.ts'
import type { DocumentLog, Kv } from '../../core/store/engine.ts'
import type { DecisionMemory } from '../decisions/decision-memory.ts'
import type { FeedRemoval } from '../feed/feed-removal.ts'
import { changeSource } from './change-source.ts'
import { feedSource } from './feed-source.ts'
import { judgmentSource } from './judgment-source.ts'
import { organizationSources } from './organization-sources.ts'
import { presenceSource } from './presence-source.ts'
import { streamSource } from './stream-source.ts'

export interface UserDataSourceDependencies {
  readonly store: OrganizationStore
  readonly presence: PresenceRegistry
  readonly memory: DecisionMemory
  readonly log: DocumentLog
  readonly kv: Kv
  readonly rooms: Pick<RoomRegistry, 'open'>
  readonly feed: FeedRemoval
}

/**
 * Returns the sources of all user data that this server stores. If new code stores data of users, it must add
 * a source here.
 */
export const allUserDataSources = ({
  store,
  presence,
  memory,
  log,
  kv,
  rooms,
  feed,
}: UserDataSourceDependencies): UserDataSourceList => ({
  ofTenant: [presenceSource(presence), judgmentSource(memory), streamSource(kv)],
  ofOrganization: [...organizationSources(store), changeSource(log, rooms), feedSource(feed)],
})
