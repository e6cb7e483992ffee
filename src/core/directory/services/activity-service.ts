import {
  type ActivityContent,
  type ActivityEvent,
  type ActivityRecord,
  activityBytesMax,
  contentOf,
  namedUsers,
} from '../../events/activity.ts'
import {
  type ActivityRange,
  findActivities,
  type ListedActivities,
  listActivities,
} from '../../events/activity-listing.ts'
import type { ActivityQuery } from '../../events/activity-query.ts'
import { namesTooManyUsers, readActivities, removeActivity } from '../../events/activity-store.ts'
import type { DomainEvent, EventRecorder } from '../../events/event-recorder.ts'
import type { EventType, OutboundEvent } from '../../events/outbound-event.ts'
import { namedInCallMax, namedUsersMax } from '../../model/named-users.ts'
import { requireResource } from '../documents/resource-lookup.ts'
import type { OrganizationScope } from '../organizations/organization-keys.ts'
import type { OrganizationStore } from '../organizations/organization-store.ts'
import { type BatchResults, forEachItem, ItemRejectedError } from '../store/batch.ts'

/** An activity to add. */
interface NewActivity extends ActivityContent {
  readonly id: string
}

/** Changes of an activity. Absent members stay unchanged. */
interface ActivityPatch extends Partial<ActivityContent> {
  readonly id: string
}

/** Manages the activities of organizations and of their documents. */
export class ActivityService {
  readonly #store: OrganizationStore
  readonly #events: EventRecorder

  constructor(store: OrganizationStore, events: EventRecorder) {
    this.#store = store
    this.#events = events
  }

  /**
   * Adds activities to a document. If an activity with the same id exists, replaces its content and keeps its
   * time.
   * @throws ApiError NOT_FOUND if the document does not exist
   */
  add(scope: OrganizationScope, documentId: string, inputs: readonly NewActivity[]): Promise<BatchResults> {
    return this.#change(scope, documentId, inputs, (input, before) => [
      { ...contentOf(input), id: input.id, documentId },
      before === null ? 'added' : 'overwritten',
    ])
  }

  /** Changes activities of a document. @throws ApiError NOT_FOUND if the document does not exist */
  update(
    scope: OrganizationScope,
    documentId: string,
    inputs: readonly ActivityPatch[],
  ): Promise<BatchResults> {
    return this.#change(scope, documentId, inputs, (input, before) => {
      const changed = { ...ofDocument(before, documentId), ...contentOf(input) }
      if (changed.featureType === 'custom' && changed.targetEntityId === undefined)
        throw new ItemRejectedError('request/invalid-member', 'a custom activity needs a targetEntityId')
      return [changed, 'updated']
    })
  }

  /** Deletes activities of a document. @throws ApiError NOT_FOUND if the document does not exist */
  remove(scope: OrganizationScope, documentId: string, ids: readonly string[]): Promise<BatchResults> {
    return this.#store.change(scope, async (transaction) => {
      await requireResource(transaction, { type: 'document', id: documentId })
      const known = await readActivities(transaction, ids)
      return forEachItem([...new Set(ids)], null, async (id) => {
        removeActivity(transaction, ofDocument(known.get(id) ?? null, documentId))
        return 'deleted'
      })
    })
  }

  /**
   * Returns a page of the activities that match the query, sorted by time.
   * @throws ApiError NOT_FOUND if the organization does not exist
   */
  async list(
    scope: OrganizationScope,
    query: ActivityQuery,
    range: ActivityRange,
  ): Promise<ListedActivities> {
    return listActivities(await this.#store.readExisting(scope), query, range)
  }

  /**
   * Returns the activities with the given ids that also match the query, sorted by time.
   * @throws ApiError NOT_FOUND if the organization does not exist
   */
  async find(
    scope: OrganizationScope,
    ids: readonly string[],
    query: ActivityQuery,
    range: ActivityRange,
  ): Promise<ListedActivities> {
    return findActivities(await this.#store.readExisting(scope), ids, query, range)
  }

  #change<Input extends { readonly id: string }>(
    scope: OrganizationScope,
    documentId: string,
    inputs: readonly Input[],
    work: (input: Input, before: ActivityRecord | null) => readonly [event: ActivityEvent, message: string],
  ): Promise<BatchResults> {
    return this.#store.change(scope, async (transaction) => {
      await requireResource(transaction, { type: 'document', id: documentId })
      const ids = inputs.map(({ id }) => id)
      const known = await readActivities(transaction, ids)
      const occurrences: DomainEvent[] = []
      let named = 0
      const results = await forEachItem(inputs, 'id', async (input) => {
        const [event, message] = work(input, known.get(input.id) ?? null)
        if (Buffer.byteLength(JSON.stringify(event)) > activityBytesMax)
          throw new ItemRejectedError(
            'request/invalid-member',
            `the activity has more than ${activityBytesMax} bytes of JSON; send less`,
          )
        if (namesTooManyUsers(event))
          throw new ItemRejectedError(
            'request/too-many-users',
            `the activity names more than ${namedUsersMax} users; name fewer`,
          )
        const count = namedUsers(event).length
        if (named + count > namedInCallMax)
          throw new ItemRejectedError(
            'request/too-many-users',
            `the activities of a call name more than ${namedInCallMax} users; send several calls`,
          )
        named += count
        occurrences.push({ activity: event, outbound: outboundOf(known.get(input.id), event) })
        return message
      })
      await this.#events.record(transaction, scope, occurrences)
      return results
    })
  }
}

/**
 * Returns the activity, after checking that it is an activity of the document.
 * @throws ItemRejectedError if the activity does not exist or belongs to another document
 */
function ofDocument(activity: ActivityRecord | null, documentId: string): ActivityRecord {
  if (activity?.documentId !== documentId)
    throw new ItemRejectedError('activity/not-found', 'there is no such activity of the document')
  return activity
}

/**
 * Action types of the activities with which recorders and huddles report. Such activities are also sent to
 * event subscribers.
 */
const notifiedTypes: ReadonlySet<string> = new Set<EventType>([
  'huddle.create',
  'huddle.join',
  'recorder.done',
])

/**
 * Returns the event to send for an activity. Returns null if its action type is not in `notifiedTypes`, or if
 * the activity existed before with the same action type. In the second case, the call is repeated or changes
 * the activity, and the event was already sent.
 */
function outboundOf(before: ActivityRecord | undefined, event: ActivityEvent): OutboundEvent | null {
  const { actionType, documentId, actionUser, ...activity } = event
  if (!notifiedTypes.has(actionType) || before?.actionType === actionType) return null
  return { type: actionType as EventType, documentId, actionUser, data: { activity } }
}
