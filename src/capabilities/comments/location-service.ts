import { setImmediate as nextTurn } from 'node:timers/promises'
import { findMissing } from '../../core/directory/documents/resource-lookup.ts'
import type { OrganizationScope } from '../../core/directory/organizations/organization-keys.ts'
import { findOrganization } from '../../core/directory/organizations/organization-store.ts'
import { mapInSlices } from '../../core/directory/store/batch.ts'
import { listingPages, type PageRange } from '../../core/directory/store/list-page.ts'
import type { FeatureType } from '../../core/events/activity.ts'
import { removeActivitiesBy } from '../../core/events/activity-store.ts'
import type { Tenant } from '../../core/model/address.ts'
import { outboundOnlyEvent } from './comment-events.ts'
import { type CommentTies, type RemoveFirst, removeListed } from './comment-removal.ts'
import type { CommentDependencies } from './judgment-recorder.ts'

/** Maximum number of activities that one commit removes. */
const activitiesAtOnce = 200
/** Maximum number of organizations in one read. */
const organizationsAtOnce = 500

/**
 * Yields to the event loop between commits. An in-memory store responds in the same tick, so without this
 * function all other work would wait until the end of the removal.
 */
const goOn = (): Promise<void> => nextTurn()

/** The ids of a location and of its document. */
interface LocationAddress {
  readonly documentId: string
  readonly locationId: string
}

/** Operations on the locations of documents. */
export class LocationService {
  readonly #dependencies: CommentDependencies

  constructor(dependencies: CommentDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Deletes the annotations of a location in bounded commits. Also deletes their activities, and all other activities
   * that name the location, such as those of annotations that were deleted there earlier. Each comment has the event
   * `comment.delete`. Succeeds if the location is not known. If the call is interrupted, it can be repeated, because
   * the activities of an annotation are deleted before the annotation itself.
   */
  async clear(scope: OrganizationScope, { documentId, locationId }: LocationAddress): Promise<void> {
    const { store, memory, events } = this.#dependencies
    if ((await findOrganization(store.read(scope))) === null) return
    const list = { kind: 'location', documentId, locationId } as const
    const beforehand: RemoveFirst = async (transaction, targetEntityId) => {
      const query = { documentId, targetEntityId, featureTypes: featuresOf(documentId, targetEntityId) }
      const removed = await removeActivitiesBy(transaction, 'targetEntityId', query, activitiesAtOnce)
      return removed < activitiesAtOnce ? 'done' : 'more'
    }
    const forget = (judgmentIds: readonly string[]) => memory.delete(scope, judgmentIds)
    const removed: CommentTies['removed'] = (transaction, annotation, comments) => {
      const deleted = { action: 'comment.delete', actionUser: { userId: 'api' }, annotation } as const
      const occurrences = comments.map((comment) => outboundOnlyEvent({ ...deleted, comment }))
      events.recordNew(transaction, scope, occurrences)
    }
    await removeListed(store, scope, list, goOn, { forget, beforehand, removed })
    const query = { documentId, locationId }
    for (let removed = activitiesAtOnce; removed >= activitiesAtOnce; await goOn())
      removed = await store.carryOut(scope, (transaction) =>
        removeActivitiesBy(transaction, 'locationId', query, activitiesAtOnce),
      )
  }

  /**
   * Returns the ids of the organizations that have the document. Reads the store once for each organization
   * of the tenant.
   */
  async organizationsWith(tenant: Tenant, documentId: string): Promise<readonly string[]> {
    const { store, organizations } = this.#dependencies
    const owners: string[] = []
    const list = (range: PageRange) => organizations.list(tenant, range)
    for await (const page of listingPages(list, organizationsAtOnce)) {
      const missing = await mapInSlices(page, ({ organizationId }) =>
        findMissing(store.read({ ...tenant, organizationId }), [{ type: 'document', id: documentId }]),
      )
      const found = page.filter((_, index) => missing[index]?.length === 0)
      owners.push(...found.map(({ organizationId }) => organizationId))
    }
    return owners
  }
}

/**
 * Returns the feature types that the activities of an annotation have. Activities are selected by id and
 * type, because a document or an editor may have the same id as an annotation. `crdt` is left out, because
 * such activities belong to an editor. `custom` is left out if the document has the same id.
 */
const featuresOf = (documentId: string, annotationId: string): readonly FeatureType[] => [
  'comment',
  'reaction',
  'recorder',
  ...(annotationId === documentId ? [] : (['custom'] as const)),
]
