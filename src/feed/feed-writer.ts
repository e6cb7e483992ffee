import type { Clock } from '../clock.ts'
import { areUsersErased } from '../directory/organizations/erased-users.ts'
import { findOrganization, type OrganizationStore } from '../directory/organizations/organization-store.ts'
import { mapInSlices } from '../directory/store/batch.ts'
import type { Transaction } from '../directory/store/transaction.ts'
import type { Engine, LogHead } from '../engine/engine.ts'
import { keyName } from '../engine/key-encoding.ts'
import { editorName } from '../events/debounce-windows.ts'
import { eventIdOf, type QueuedEvent } from '../events/outbound-event.ts'
import type { Metrics } from '../metrics.ts'
import {
  type DocumentAddress,
  documentAddress,
  type OrganizationAddress,
  organizationPrefix,
  type Tenant,
} from '../model/address.ts'
import { findNamedUsers, withoutUser } from '../model/named-users.ts'
import { versionOf } from '../model/version.ts'
import { type FeedConfig, feedEventTypes } from '../subscriptions/feed-config.ts'
import type { FeedConfigService } from '../subscriptions/feed-config-service.ts'
import { readEditorChange, readEditorHeads } from './editor-change.ts'
import type { FeedChange } from './feed-change.ts'
import { feedSweepJob, feedKeys as keys } from './feed-keys.ts'
import { type EditorPosition, editorPositionType, type FeedEvent } from './feed-records.ts'
import type { FeedRemoval } from './feed-removal.ts'
import type { FeedStore } from './feed-store.ts'
import { feedSweepMs } from './feed-sweeper.ts'

export interface FeedWriterOptions {
  readonly engine: Pick<Engine, 'log'>
  readonly clock: Clock
  readonly store: FeedStore
  readonly removal: FeedRemoval
  readonly organizations: OrganizationStore
  readonly subscriptions: { feedOf(tenant: Tenant): Promise<FeedConfig> }
  readonly configs: Pick<FeedConfigService, 'read'>
  readonly metrics: Pick<Metrics, 'feedEvents'>
}

/** Maximum number of logs that are read concurrently. */
const logsAtOnce = 8

/** An event to add, with its id. */
interface NewEvent {
  readonly id: string
  readonly event: FeedEvent
  /** Set if the event is a change of an editor. */
  readonly position?: { readonly address: DocumentAddress; readonly value: EditorPosition }
}

/**
 * Adds events to feeds. Only the dispatcher calls it, one batch of an API key at a time. A repeated call with the
 * same events adds nothing: an event is known by its id, and a change of content by the version of its editor.
 */
export class FeedWriter {
  readonly #options: FeedWriterOptions

  constructor(options: FeedWriterOptions) {
    this.#options = options
  }

  /**
   * Adds the events of an API key in the given order, in one commit. Does nothing if the feed is off. Resolves
   * when the events are durable.
   * @throws StoreUnavailableError, CorruptRecordError, ApiError ABORTED; nothing is added in these cases
   */
  async append(tenant: Tenant, events: readonly QueuedEvent[]): Promise<void> {
    const { subscriptions, store, clock, metrics } = this.#options
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
      await change.trim(now - config.keepSeconds * 1000, 2 * found.length)
      transaction.enqueue(feedSweepJob(tenant, now + feedSweepMs))
      return found.length
    }
    const added = (await store.change(tenant, add)) ?? (await this.#begin(tenant, add))
    metrics.feedEvents.inc(added)
    await this.#forgetGone(given)
  }

  /** Adds to a feed without a state. The feed may have been turned off after its configuration was read. */
  async #begin(
    tenant: Tenant,
    add: (change: FeedChange, transaction: Transaction) => Promise<number>,
  ): Promise<number> {
    const { configs, store } = this.#options
    return (await configs.read(tenant)).enabled ? store.begin(tenant, add) : 0
  }

  async #newEvents(
    tenant: Tenant,
    change: FeedChange,
    transaction: Transaction,
    given: readonly QueuedEvent[],
  ): Promise<readonly NewEvent[]> {
    const known = await transaction.getAll(given.map(({ id }) => keys.numberOf(id)))
    const changes = await this.#changesOf(tenant, change, transaction, given)
    const found = given.flatMap((event, index): readonly NewEvent[] => {
      if (isChangeJob(event)) return changes.get(event) ?? []
      return known[index] === null ? [{ id: event.id, event: feedEvent(event) }] : []
    })
    return this.#withoutErased(tenant, found)
  }

  /** Returns the changes of the editors that have a newer version than their last event. */
  async #changesOf(
    tenant: Tenant,
    change: FeedChange,
    transaction: Transaction,
    given: readonly QueuedEvent[],
  ): Promise<ReadonlyMap<QueuedEvent, readonly NewEvent[]>> {
    const jobs = new Map(given.filter(isChangeJob).map((event) => [event.id, event]))
    const events = [...jobs.values()]
    const addresses = events.map((event) => addressOf(tenant, event))
    const [positions, heads] = await Promise.all([
      transaction.getAll(addresses.map(positionKey), editorPositionType),
      readEditorHeads(this.#options.engine.log, addresses),
    ])
    const found = await mapInSlices(
      events.map((event, index) => ({
        event,
        address: addresses[index] as DocumentAddress,
        head: heads[index] ?? null,
        before: positions[index] ?? null,
      })),
      async ({ event, address, head, before }) => {
        const one = head === null ? null : await this.#changeOf(change, event, address, head, before)
        return [event, one === null ? [] : [one]] as const
      },
      logsAtOnce,
    )
    return new Map(found)
  }

  async #changeOf(
    { state }: FeedChange,
    { actionUser }: QueuedEvent,
    address: DocumentAddress,
    head: LogHead,
    before: EditorPosition | null,
  ): Promise<NewEvent | null> {
    const { generation } = state
    const since =
      before !== null && before.generation === generation && before.epoch === head.epoch ? before.seq : null
    if (since !== null && since >= head.head) return null
    const read = await readEditorChange(
      this.#options.engine.log,
      address,
      head,
      since ?? 0,
      this.#options.clock.now(),
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
      id: eventIdOf(read.at, `${generation} ${editorName(address)} ${version}`),
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
        Array.from(findNamedUsers(each.event), (userId) => ({ userId, at: each.event.at, each })),
      )
      const reader = this.#options.organizations.read({ ...tenant, organizationId })
      const erased = await areUsersErased(reader, actions)
      for (const [index, { userId, each }] of actions.entries()) {
        if (erased[index] !== true) continue
        const now = clean.get(each) ?? each
        clean.set(each, { ...now, event: withoutUser(now.event, { userId }) })
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
      if ((await findOrganization(this.#options.organizations.read(scope))) === null)
        await this.#options.removal.forgetOrganization(scope, async () => {})
  }
}

/** Returns whether an event is from a job of `ChangeJobs`. */
const isChangeJob = ({ type, only }: QueuedEvent): boolean => only === 'feed' && type === 'crdt.update_data'

const isForFeed = ({ type, only }: QueuedEvent): boolean =>
  only === 'feed' || (type !== 'crdt.update_data' && feedEventTypes.includes(type))

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
