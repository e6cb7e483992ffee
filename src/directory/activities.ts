import {
  type ActivityContent,
  type ActivityEvent,
  type ActivityRecord,
  activityBytesMax,
  contentOf,
  namedUsers,
} from '../events/activity.ts'
import {
  type ActivityPage,
  type ActivityRange,
  findActivities,
  listActivities,
} from '../events/activity-listing.ts'
import type { ActivityQuery } from '../events/activity-query.ts'
import { namesTooMany } from '../events/anonymous.ts'
import type { Events, Occurrence } from '../events/events.ts'
import type { EventType, OutboundEvent } from '../events/outbound.ts'
import { readActivities, removeActivity } from '../events/record.ts'
import { namedInCallMax, namedUsersMax } from '../model/named-users.ts'
import { eachItem, ItemRefused, type Results } from './items.ts'
import type { OrganizationScope } from './organization-keys.ts'
import { type OrganizationStore, organizationOf } from './organization-store.ts'
import { checkResource } from './places.ts'

/** What is said of an activity that is to be added. */
export interface ActivityToAdd extends ActivityContent {
  readonly id: string
}

/** What is not given stays. */
export interface ActivityChange extends Partial<ActivityContent> {
  readonly id: string
}

/** What has happened in organizations, and to their documents. */
export class Activities {
  readonly #store: OrganizationStore
  readonly #events: Events

  constructor(store: OrganizationStore, events: Events) {
    this.#store = store
    this.#events = events
  }

  /**
   * Adds activities of a document. An id that there is already is overwritten: what it said is gone, its time stays.
   * @throws ApiError NOT_FOUND when the document does not exist
   */
  add(scope: OrganizationScope, documentId: string, inputs: readonly ActivityToAdd[]): Promise<Results> {
    return this.#change(scope, documentId, inputs, (input, before) => [
      { ...contentOf(input), id: input.id, documentId },
      before === null ? 'added' : 'overwritten',
    ])
  }

  /** Changes activities of a document. @throws ApiError NOT_FOUND when the document does not exist */
  update(scope: OrganizationScope, documentId: string, inputs: readonly ActivityChange[]): Promise<Results> {
    return this.#change(scope, documentId, inputs, (input, before) => {
      const changed = { ...ofDocument(before, documentId), ...contentOf(input) }
      if (changed.featureType === 'custom' && changed.targetEntityId === undefined)
        throw new ItemRefused('a custom activity needs a targetEntityId')
      return [changed, 'updated']
    })
  }

  /** Deletes activities of a document. @throws ApiError NOT_FOUND when the document does not exist */
  remove(scope: OrganizationScope, documentId: string, ids: readonly string[]): Promise<Results> {
    return this.#store.change(scope, async (transaction) => {
      await checkResource(transaction, { type: 'document', id: documentId })
      const known = await readActivities(transaction, ids)
      const idOf = (id: string): string => id
      return eachItem([...new Set(ids)], idOf, async (id) => {
        removeActivity(transaction, ofDocument(known.get(id) ?? null, documentId))
        return 'deleted'
      })
    })
  }

  /** Activities that fit, by time. @throws ApiError NOT_FOUND when the organization does not exist */
  async list(scope: OrganizationScope, query: ActivityQuery, range: ActivityRange): Promise<ActivityPage> {
    const reader = this.#store.read(scope)
    await organizationOf(reader)
    return listActivities(reader, query, range)
  }

  /** Those of the named activities that fit, by time. @throws ApiError NOT_FOUND when the organization does not exist */
  async find(
    scope: OrganizationScope,
    ids: readonly string[],
    query: ActivityQuery,
    range: ActivityRange,
  ): Promise<ActivityPage> {
    const reader = this.#store.read(scope)
    await organizationOf(reader)
    return findActivities(reader, ids, query, range)
  }

  #change<Input extends { readonly id: string }>(
    scope: OrganizationScope,
    documentId: string,
    inputs: readonly Input[],
    work: (input: Input, before: ActivityRecord | null) => readonly [event: ActivityEvent, message: string],
  ): Promise<Results> {
    return this.#store.change(scope, async (transaction) => {
      await checkResource(transaction, { type: 'document', id: documentId })
      const ids = inputs.map(({ id }) => id)
      const known = await readActivities(transaction, ids)
      const occurrences: Occurrence[] = []
      let named = 0
      const results = await eachItem(
        inputs,
        ({ id }) => id,
        async (input) => {
          const [event, message] = work(input, known.get(input.id) ?? null)
          if (Buffer.byteLength(JSON.stringify(event)) > activityBytesMax)
            throw new ItemRefused(`the activity has more than ${activityBytesMax} bytes of JSON`)
          if (namesTooMany(event))
            throw new ItemRefused(`the activity names more than ${namedUsersMax} users`)
          const count = namedUsers(event).length
          if (named + count > namedInCallMax)
            throw new ItemRefused(`the activities of a call name more than ${namedInCallMax} users`)
          named += count
          occurrences.push({ activity: event, outbound: outboundOf(known.get(input.id), event) })
          return message
        },
      )
      await this.#events.record(transaction, scope, occurrences)
      return results
    })
  }
}

/** @throws ItemRefused unless it is an activity of the document */
function ofDocument(activity: ActivityRecord | null, documentId: string): ActivityRecord {
  if (activity?.documentId !== documentId) throw new ItemRefused('there is no such activity of the document')
  return activity
}

/** What recorders and huddles do comes in as activities; whoever asks for such events is told of them. */
const toldTypes: ReadonlySet<string> = new Set<EventType>(['huddle.create', 'huddle.join', 'recorder.done'])

/** Once: neither when it is given again, nor when anything else of it changes. */
function outboundOf(before: ActivityRecord | undefined, event: ActivityEvent): OutboundEvent | null {
  const { actionType, documentId, actionUser, ...activity } = event
  if (!toldTypes.has(actionType) || before?.actionType === actionType) return null
  return { type: actionType as EventType, documentId, actionUser, data: { activity } }
}
