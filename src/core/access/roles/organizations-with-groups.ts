import type { Clock } from '../../base/clock.ts'
import {
  keys,
  type OrganizationScope,
  organizationPart,
} from '../../directory/organizations/organization-keys.ts'
import type { DirectoryReader } from '../../directory/store/directory-reader.ts'
import { keyName } from '../../store/key-encoding.ts'
import type { AccessChangeFeed } from '../access-change-feed.ts'
import { TtlCache } from '../ttl-cache.ts'

/** Maximum number of cached organizations. */
const cachedOrganizationsMax = 10_000

/**
 * Caches whether an organization has a group with members. If it has none, the groups of a user need not be
 * read. This saves a scan for each connection. Changes take effect immediately.
 */
export class OrganizationsWithGroups {
  readonly #cache: TtlCache<boolean>

  constructor(news: AccessChangeFeed, clock: Clock) {
    this.#cache = new TtlCache(clock, news.keepMs, cachedOrganizationsMax)
    news.onChange((change) => {
      if (change === null) this.#cache.forgetAll()
      else this.#cache.forget(nameOf(change.scope))
    })
  }

  isIn(scope: OrganizationScope, reader: DirectoryReader): Promise<boolean> {
    return this.#cache.get(nameOf(scope), async () => {
      const found = await reader.scan({ prefix: keys.groupsOfAll, limit: 1 })
      return found.length > 0
    })
  }
}

const nameOf = (scope: OrganizationScope): string => keyName(organizationPart(scope))
