import { areUsersErased } from '../../core/directory/organizations/erased-users.ts'
import { keys as organizationKeys } from '../../core/directory/organizations/organization-keys.ts'
import { findOrganization } from '../../core/directory/organizations/organization-store.ts'
import { mapInSlices } from '../../core/directory/store/batch.ts'
import { documentRecordType } from '../../core/directory/store/records.ts'
import type { Transaction } from '../../core/directory/store/transaction.ts'
import { editorName } from '../../core/events/debounce-windows.ts'
import { eventIdOf, type QueuedEvent } from '../../core/events/outbound-event.ts'
import {
  type DocumentAddress,
  documentAddress,
  type OrganizationAddress,
  organizationPrefix,
  type Tenant,
} from '../../core/model/address.ts'
import { findNamedUsers, withoutUser } from '../../core/model/named-users.ts'
import { versionOf } from '../../core/model/version.ts'
import type { LogHead } from '../../core/store/engine.ts'
import { keyName } from '../../core/store/key-encoding.ts'
import { feedEventTypes } from '../webhooks/webhook-records.ts'
import { readEditorChange, readEditorHeads } from './editor-change.ts'
import {
  type EditorPosition,
  editorPositionType,
  type FeedEvent,
  feedSweepJob,
  feedSweepMs,
  feedKeys as keys,
  userIdMembers,
} from './feed-records.ts'
import type { FeedChange, FeedStore, ServicesOfFeed } from './feed-store.ts'
import { feedLimits } from './limits.ts'

/** Maximum number of logs that are read concurrently. */
const logsAtOnce = 8
/** Maximum number of old events that an append removes. The sweeps remove the others. */
const trimmedMax = 40

/** An event to add, with its id. */
interface NewEvent {
  readonly id: string
  readonly event: FeedEvent
  /** Set if the event is a change of an editor. */
  readonly position?: { readonly address: DocumentAddress; readonly value: EditorPosition }
}

/** An editor that may have changed. */
interface ChangedEditor {
  /** The event because of which the editor is read. */
  readonly event: QueuedEvent
  readonly address: DocumentAddress
  /** The version of its last event; null if its next event has no version before. */
  readonly before: EditorPosition | null
  /** Part of the id of its next event: the id of the deletion that the event follows, or ''. */
  readonly after: string
}

/**
 * Adds events to feeds. Only the dispatcher calls it, one batch of an API key at a time. A repeated call with the
 * same events adds nothing: an event is known by its id, and a change of content by the version of its editor.
 */
export class FeedWriter {
  readonly #services: ServicesOfFeed
  readonly #store: FeedStore

  constructor(services: ServicesOfFeed, store: FeedStore) {
    this.#services = services
    this.#store = store
  }

  /**
   * Adds the events of an API key in the given order, in one commit. Does nothing if the feed is off. Resolves
   * when the events are durable.
   * @throws StoreUnavailableError, CorruptRecordError, ApiError ABORTED; nothing is added in these cases
   */
  async append(tenant: Tenant, events: readonly QueuedEvent[]): Promise<void> {
    const { subscriptions, webhookConfigs, clock, metrics } = this.#services
    const given = events.filter(isForFeed)
    if (given.length === 0) return
    const config = await subscriptions.feedOf(tenant)
    if (!config.enabled) return
    const add = async (change: FeedChange, transaction: Transaction): Promise<number> => {
      const found = await this.#newEvents(tenant, change, transaction, given)
      const now = clock.now()
      for (const { id, event, position } of found) {
        change.add(id, event, now)
        if (position !== undefined) transaction.put(positionKey(position.address), position.value)
      }
      if (found.length === 0) return 0
      await change.trim(now - config.keepSeconds * 1000, Math.min(2 * found.length, trimmedMax))
      transaction.enqueue(feedSweepJob(tenant, now + feedSweepMs))
      return found.length
    }
    // A feed without a state begins, unless it was turned off after its configuration was read.
    const begin = async () =>
      (await webhookConfigs.feed(tenant)).enabled ? this.#store.change(tenant, add, 'begin') : null
    const added = (await this.#store.change(tenant, add)) ?? (await begin()) ?? 0
    metrics.feedEvents.inc(added)
    await this.#forgetGone(given)
  }

  /**
   * Returns the events to add. The changes of content come last, because they are read now: the document of a change
   * may have been deleted by an event of the batch, and created again.
   */
  async #newEvents(
    tenant: Tenant,
    change: FeedChange,
    transaction: Transaction,
    given: readonly QueuedEvent[],
  ): Promise<readonly NewEvent[]> {
    const others = given.filter((event) => !isChangeJob(event))
    const known = await transaction.getAll(others.map(({ id }) => keys.numberOf(id)))
    const added = others.filter((_event, index) => known[index] === null)
    const found: NewEvent[] = []
    for (const event of added) {
      if (event.type === 'crdt.delete_data') {
        found.push(...(await this.#deletedContent(tenant, change, event)))
        continue
      }
      found.push({ id: event.id, event: feedEvent(event) })
      if (event.type === 'document.delete')
        found.push(...(await this.#recreated(tenant, change, transaction, event)))
    }
    const repeated = new Set(found.flatMap(({ position }) => position && editorName(position.address)))
    const jobs = new Map(given.filter(isChangeJob).map((event) => [event.id, event]))
    const changes = Array.from(jobs.values(), (event) => ({ event, address: addressOf(tenant, event) }))
    const left = changes.filter(({ address }) => !repeated.has(editorName(address)))
    const positions = await transaction.getAll(
      left.map(({ address }) => positionKey(address)),
      editorPositionType,
    )
    const since = left.map((each, index) => ({ ...each, before: positions[index] ?? null, after: '' }))
    return this.#withoutErased(tenant, [...found, ...(await this.#changesOf(change, since))])
  }

  /**
   * Returns the event of a deletion of content, and the change of the editor if it was created again. Returns
   * nothing while the content is still there: then the deletion is in progress, or the server was killed before it.
   */
  async #deletedContent(
    tenant: Tenant,
    change: FeedChange,
    event: QueuedEvent,
  ): Promise<readonly NewEvent[]> {
    const address = addressOf(tenant, event)
    const [head = null] = await readEditorHeads(this.#services.engine.log, [address])
    if (head !== null && head.epoch === event.data.epoch) return []
    const deleted = { ...feedEvent(event), data: { editorId: address.editorId } }
    const again = await this.#changesOf(change, [{ event, address, before: null, after: event.id }])
    return [{ id: event.id, event: deleted }, ...again]
  }

  /**
   * Returns the changes of the editors of a document that was created again, and has changes in the feed although
   * the event of its deletion comes only now. Readers may delete the document at that event.
   */
  async #recreated(
    tenant: Tenant,
    change: FeedChange,
    transaction: Transaction,
    event: QueuedEvent,
  ): Promise<readonly NewEvent[]> {
    const { organizationId } = event.scope
    const documentId = event.documentId ?? ''
    const prefix = keys.editorsIn(organizationId, documentId)
    const entries = await transaction.scan({ prefix, limit: feedLimits.recreatedEditors })
    const editors = entries.map(({ key }) => ({
      event,
      address: documentAddress(tenant, { organizationId, documentId, editorId: String(key.at(-1)) }),
      before: null,
      after: event.id,
    }))
    return this.#changesOf(change, editors)
  }

  /** Returns the changes of the editors that have a newer version than their last event. */
  async #changesOf(change: FeedChange, given: readonly ChangedEditor[]): Promise<readonly NewEvent[]> {
    const editors = await this.#withoutGoing(given)
    const heads = await readEditorHeads(
      this.#services.engine.log,
      editors.map(({ address }) => address),
    )
    const found = await mapInSlices(
      editors.map((editor, index) => ({ editor, head: heads[index] ?? null })),
      async ({ editor, head }) => (head === null ? null : this.#changeOf(change, editor, head)),
      logsAtOnce,
    )
    return found.filter((each) => each !== null)
  }

  /**
   * Leaves out the editors whose document is being deleted. The event of the deletion exists since its start, so the
   * content that is still there must not follow it.
   */
  async #withoutGoing(editors: readonly ChangedEditor[]): Promise<readonly ChangedEditor[]> {
    const scopes = new Map(editors.map(({ address }) => [address.organizationId, address]))
    const going = new Set<string>()
    for (const scope of scopes.values()) {
      const documentIds = [
        ...new Set(
          editors.flatMap(({ address: { organizationId, documentId } }) =>
            organizationId === scope.organizationId ? documentId : [],
          ),
        ),
      ]
      const reader = this.#services.store.read(scope)
      const records = await reader.getAll(documentIds.map(organizationKeys.document), documentRecordType)
      for (const [index, record] of records.entries())
        if (record?.deleting === true) going.add(keyName([scope.organizationId, documentIds[index] ?? '']))
    }
    return editors.filter(
      ({ address: { organizationId, documentId } }) => !going.has(keyName([organizationId, documentId])),
    )
  }

  async #changeOf(
    { state }: FeedChange,
    { event: { actionUser }, address, before, after }: ChangedEditor,
    head: LogHead,
  ): Promise<NewEvent | null> {
    const { generation } = state
    const since =
      before !== null && before.generation === generation && before.epoch === head.epoch ? before.seq : null
    if (since !== null && since >= head.head) return null
    const read = await readEditorChange(
      this.#services.engine.log,
      address,
      head,
      since ?? 0,
      this.#services.clock.now(),
    )
    if (read === null) return null
    const { organizationId, documentId, editorId } = address
    const { epoch, head: seq } = head
    const version = versionOf({ epoch, seq })
    const authors = read.authors?.map((userId) => ({ userId })) ?? null
    const event: FeedEvent = {
      type: 'crdt.update_data',
      at: read.at,
      organizationId,
      documentId,
      actionUser: authors?.[0] ?? actionUser,
      data: {
        editorId,
        versionBefore: since === null ? null : versionOf({ epoch, seq: since }),
        version,
        bytes: read.bytes,
        authors,
      },
    }
    return {
      id: eventIdOf(read.at, `${generation} ${editorName(address)} ${version}${after}`),
      event,
      position: { address, value: { generation, epoch, seq } },
    }
  }

  /** Replaces users whose data was deleted after the event. Such a user must not appear again. */
  async #withoutErased(tenant: Tenant, found: readonly NewEvent[]): Promise<readonly NewEvent[]> {
    const byOrganization = new Map<string, NewEvent[]>()
    for (const each of found) {
      const some = byOrganization.get(each.event.organizationId) ?? []
      some.push(each)
      byOrganization.set(each.event.organizationId, some)
    }
    const clean = new Map<NewEvent, NewEvent>()
    for (const [organizationId, some] of byOrganization) {
      const actions = some.flatMap((each) =>
        Array.from(findNamedUsers(each.event, userIdMembers), (userId) => ({
          userId,
          at: each.event.at,
          each,
        })),
      )
      const reader = this.#services.store.read({ ...tenant, organizationId })
      const erased = await areUsersErased(reader, actions)
      for (const [index, { userId, each }] of actions.entries()) {
        if (erased[index] !== true) continue
        const now = clean.get(each) ?? each
        clean.set(each, { ...now, event: withoutUser(now.event, { userId }, userIdMembers) })
      }
    }
    return found.map((each) => clean.get(each) ?? each)
  }

  /**
   * Removes the events of organizations that no longer exist. The removal of such an organization may have run
   * before its last events were added.
   */
  async #forgetGone(events: readonly QueuedEvent[]): Promise<void> {
    const scopes = new Map<string, OrganizationAddress>(
      events.map(({ scope }) => [keyName(organizationPrefix(scope)), scope]),
    )
    for (const scope of scopes.values())
      if ((await findOrganization(this.#services.store.read(scope))) === null)
        await this.#services.feedRemoval.forgetOrganization(scope, async () => {})
  }
}

/** Returns whether an event is from a job of `ChangeJobs`. */
const isChangeJob = ({ type, only }: QueuedEvent): boolean => only === 'feed' && type === 'crdt.update_data'

const isForFeed = ({ type, only }: QueuedEvent): boolean =>
  only === 'feed' ||
  (type !== 'crdt.update_data' && type !== 'crdt.delete_data' && feedEventTypes.includes(type))

const feedEvent = ({ type, at, scope, documentId, actionUser, data }: QueuedEvent): FeedEvent => ({
  type,
  at,
  organizationId: scope.organizationId,
  documentId,
  actionUser,
  data,
})

/** Returns the editor to which a job of `ChangeJobs` refers. */
const addressOf = (tenant: Tenant, { scope, documentId, data }: QueuedEvent): DocumentAddress =>
  documentAddress(tenant, {
    organizationId: scope.organizationId,
    documentId: documentId ?? '',
    editorId: String(data.editorId),
  })

const positionKey = ({ organizationId, documentId, editorId }: DocumentAddress) =>
  keys.editor(organizationId, documentId, editorId)
