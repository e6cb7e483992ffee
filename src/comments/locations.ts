import { setImmediate as nextTurn } from 'node:timers/promises'
import { commentKeys } from '../directory/comment-keys.ts'
import { type Beforehand, removeListed } from '../directory/comment-removal.ts'
import { inSlices } from '../directory/items.ts'
import type { OrganizationScope } from '../directory/organization-keys.ts'
import { findOrganization, type OrganizationStore } from '../directory/organization-store.ts'
import type { Organizations } from '../directory/organizations.ts'
import { removeActivitiesOn } from '../events/record.ts'
import type { Tenant } from '../model/address.ts'

/** Activities that are removed in one commit. */
const activitiesAtOnce = 200
/** Organizations that are looked through at a time. */
const organizationsAtOnce = 500

/** Names a location of a document. */
export interface LocationAddress {
  readonly documentId: string
  readonly locationId: string
}

/** What is tied to locations of documents. */
export class Locations {
  readonly #store: OrganizationStore
  readonly #organizations: Organizations

  constructor(store: OrganizationStore, organizations: Organizations) {
    this.#store = store
    this.#organizations = organizations
  }

  /**
   * Removes the annotations of a location, and the activities of those, in bounded commits; what is not there is gone
   * already. A call that was cut off can be made again: the activities of an annotation go before it.
   */
  async clear(scope: OrganizationScope, { documentId, locationId }: LocationAddress): Promise<void> {
    if ((await findOrganization(this.#store.read(scope))) === null) return
    const list = { kind: 'location', documentId, locationId } as const
    const activities: Beforehand = async (transaction, targetEntityId) => {
      const target = { documentId, targetEntityId }
      const removed = await removeActivitiesOn(transaction, target, activitiesAtOnce)
      return removed < activitiesAtOnce ? 'done' : 'more'
    }
    // A store in memory answers at once: without turns of the event loop everybody else would wait for the end.
    await removeListed(this.#store, scope, list, () => nextTurn(), activities)
  }

  /** The same in every organization of a tenant: reads once in each. */
  async clearEverywhere(tenant: Tenant, address: LocationAddress): Promise<void> {
    const prefix = commentKeys.list({ kind: 'location', ...address })
    for (let after: string | null | undefined; after !== null; ) {
      const { items, next } = await this.#organizations.list(tenant, { after, limit: organizationsAtOnce })
      await inSlices(items, async ({ organizationId }) => {
        const scope = { ...tenant, organizationId }
        const [first] = await this.#store.read(scope).scan({ prefix, limit: 1 })
        if (first !== undefined) await this.clear(scope, address)
      })
      after = next
    }
  }
}
