import type { Clock } from '../clock.ts'
import { keys, type OrganizationScope, organizationPart } from '../directory/organization-keys.ts'
import type { Reader } from '../directory/reader.ts'
import { keyName } from '../engine/keys.ts'
import type { AccessNews } from './access-news.ts'
import { Remembered } from './remembered.ts'

/** Organizations that are remembered. */
const rememberedMax = 10_000

/**
 * Which organizations have anybody in a group: in the others nobody's groups need to be looked for, which takes a
 * scan for each connection. What changes acts at once.
 */
export class Grouped {
  readonly #remembered: Remembered<boolean>

  constructor(news: AccessNews, clock: Clock) {
    this.#remembered = new Remembered({ clock, max: rememberedMax, keepMs: news.keepMs })
    news.onChange((change) => {
      if (change === null) this.#remembered.forgetAll()
      else this.#remembered.forget(nameOf(change.scope))
    })
  }

  isIn(scope: OrganizationScope, reader: Reader): Promise<boolean> {
    return this.#remembered.get(nameOf(scope), async () => {
      const found = await reader.scan({ prefix: keys.groupsOfAll, limit: 1 })
      return found.length > 0
    })
  }
}

const nameOf = (scope: OrganizationScope): string => keyName(organizationPart(scope))
