import { setImmediate as nextTurn } from 'node:timers/promises'
import { commentKeys } from '../directory/comment-keys.ts'
import { type Beforehand, removeListed } from '../directory/comment-removal.ts'
import { removeGone } from '../directory/gone-annotations.ts'
import { inSlices } from '../directory/items.ts'
import type { OrganizationScope } from '../directory/organization-keys.ts'
import { findOrganization, type OrganizationStore } from '../directory/organization-store.ts'
import type { Organizations } from '../directory/organizations.ts'
import type { FeatureType } from '../events/activity.ts'
import { removeActivitiesOn } from '../events/record.ts'
import type { Tenant } from '../model/address.ts'

/** Activities that are removed in one commit. */
const activitiesAtOnce = 200
/** Organizations that are looked through at a time. */
const organizationsAtOnce = 500

/** A store in memory answers at once: without turns of the event loop everybody else would wait for the end. */
const goOn = (): Promise<void> => nextTurn()

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
   * Removes the annotations of a location, and the activities of those and of what was deleted there before, in bounded
   * commits; what is not there is gone already. A call that was cut off can be made again: the activities of an
   * annotation go before it.
   */
  async clear(scope: OrganizationScope, { documentId, locationId }: LocationAddress): Promise<void> {
    if ((await findOrganization(this.#store.read(scope))) === null) return
    const list = { kind: 'location', documentId, locationId } as const
    const activities: Beforehand = async (transaction, targetEntityId) => {
      const query = { documentId, targetEntityId, featureTypes: featuresOf(documentId, targetEntityId) }
      const removed = await removeActivitiesOn(transaction, query, activitiesAtOnce)
      return removed < activitiesAtOnce ? 'done' : 'more'
    }
    await removeListed(this.#store, scope, list, goOn, activities)
    await removeGone(this.#store, scope, commentKeys.goneFrom(documentId, locationId), goOn, activities)
  }

  /** The same in every organization of a tenant: reads twice in each. */
  async clearEverywhere(tenant: Tenant, address: LocationAddress): Promise<void> {
    const { documentId, locationId } = address
    const prefixes = [
      commentKeys.list({ kind: 'location', ...address }),
      commentKeys.goneFrom(documentId, locationId),
    ]
    for (let after: string | null | undefined; after !== null; ) {
      const { items, next } = await this.#organizations.list(tenant, { after, limit: organizationsAtOnce })
      await inSlices(items, async ({ organizationId }) => {
        const scope = { ...tenant, organizationId }
        const reader = this.#store.read(scope)
        const found = await Promise.all(prefixes.map((prefix) => reader.scan({ prefix, limit: 1 })))
        if (found.flat().length > 0) await this.clear(scope, address)
      })
      after = next
    }
  }
}

/**
 * Features of the activities that are about an annotation. Documents and editors may have the same id: `crdt` is what is
 * done to an editor, and `custom` also what is done to a document as a whole.
 */
const featuresOf = (documentId: string, annotationId: string): readonly FeatureType[] => [
  'comment',
  'reaction',
  'recorder',
  ...(annotationId === documentId ? [] : (['custom'] as const)),
]
