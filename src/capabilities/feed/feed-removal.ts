import { randomUUID } from 'node:crypto'
import type { Clock } from '../../core/base/clock.ts'
import type { DirectoryReader } from '../../core/directory/store/directory-reader.ts'
import type { ListPage, PageRange } from '../../core/directory/store/list-page.ts'
import { eventIdOf } from '../../core/events/outbound-event.ts'
import type { CheckLease } from '../../core/jobs/task-worker.ts'
import type { OrganizationAddress, Tenant } from '../../core/model/address.ts'
import { withoutUser } from '../../core/model/named-users.ts'
import {
  type FeedEvent,
  feedEntryType,
  feedStateType,
  feedKeys as keys,
  numberIn,
  userIdMembers,
} from './feed-records.ts'
import { type FeedEngine, FeedStore } from './feed-store.ts'

/** Maximum number of events that one commit changes. It is low, because an event may have 256 KB. */
const atOnce = 40

/** Type of the last event of a deleted organization. Only feeds have it. */
export const organizationDeleted = 'organization.delete'

/** Removes events, and users from events. Each commit is limited in size. */
export class FeedRemoval {
  readonly #store: FeedStore
  readonly #clock: Clock

  constructor(engine: FeedEngine, clock: Clock) {
    this.#store = new FeedStore(engine)
    this.#clock = clock
  }

  /**
   * Removes the oldest events that are too old or too many.
   * @param before events that were added before this time are too old, in epoch milliseconds
   * @returns whether the feed still has events
   */
  async sweep(tenant: Tenant, before: number, goOn: CheckLease): Promise<boolean> {
    while (await this.#store.change(tenant, (change) => change.trim(before, atOnce))) await goOn()
    const state = await this.#store.read(tenant).get(keys.state, feedStateType)
    return state !== null && state.last > state.trimmed
  }

  /**
   * Removes all events of an organization that was deleted, and adds the event of the deletion. That event
   * stays. Does nothing if the feed is off.
   */
  async forgetOrganization(scope: OrganizationAddress, goOn: CheckLease): Promise<void> {
    const { organizationId } = scope
    await this.#store.change(scope, async (change, transaction) => {
      const [last] = await transaction.scan({ prefix: keys.of(organizationId), limit: 1, reverse: true })
      const entry =
        last === undefined ? null : await transaction.get(keys.entry(numberIn(last.key)), feedEntryType)
      if (entry?.event?.type === organizationDeleted) return
      const at = this.#clock.now()
      const event = {
        type: organizationDeleted,
        at,
        organizationId,
        documentId: null,
        actionUser: { userId: scope.apiKey },
        data: {},
      }
      change.add(eventIdOf(at, randomUUID()), event, at)
    })
    while (await this.#clearSome(scope, organizationId)) await goOn()
    while (await this.#forgetEditors(scope, keys.editorsOf(organizationId))) await goOn()
  }

  /** Removes what the feed keeps about the editors of a deleted document. Its events stay. */
  async forgetDocument(scope: OrganizationAddress, documentId: string, goOn: CheckLease): Promise<void> {
    while (await this.#forgetEditors(scope, keys.editorsIn(scope.organizationId, documentId))) await goOn()
  }

  /**
   * Replaces a user in up to `atOnce` events of an organization by the deleted user. Returns the number of
   * changed events; 0 if no event mentions the user any more.
   */
  async eraseUser(scope: OrganizationAddress, userId: string): Promise<number> {
    const prefix = keys.naming(scope.organizationId, userId)
    const reader = this.#store.read(scope)
    if ((await reader.scan({ prefix, limit: 1 })).length === 0) return 0
    const erased = await this.#store.change(scope, async (change, transaction) => {
      const found = await transaction.scan({ prefix, limit: atOnce })
      for (const { key } of found) transaction.delete(key)
      for (const { number, entry } of await entriesAt(transaction, found)) {
        if (entry.event === null) continue
        const { actionUser } = entry.event
        const known = actionUser.userId === userId ? actionUser : { userId }
        change.replace(number, entry, withoutUser(entry.event, known, userIdMembers))
      }
      return found.length
    })
    return erased ?? 0
  }

  /** Returns a page of the events of an organization that mention a user, the oldest first. */
  async listOfUser(
    scope: OrganizationAddress,
    userId: string,
    { after, limit }: PageRange,
  ): Promise<ListPage<FeedEvent & { readonly id: string }>> {
    const reader = this.#store.read(scope)
    const { organizationId } = scope
    const found = await reader.scan({
      prefix: keys.naming(organizationId, userId),
      limit,
      ...(after !== undefined && { after: keys.namingUser(organizationId, userId, Number(after)) }),
    })
    const items = (await entriesAt(reader, found)).flatMap(({ entry: { id, event } }) =>
      event === null ? [] : [{ id, ...event }],
    )
    const last = found.at(-1)
    return { items, next: last === undefined || found.length < limit ? null : String(numberIn(last.key)) }
  }

  /** Clears events of an organization except the last one. Returns whether more may remain. */
  async #clearSome(tenant: Tenant, organizationId: string): Promise<boolean | null> {
    const prefix = keys.of(organizationId)
    return this.#store.change(tenant, async (change, transaction) => {
      const [last] = await transaction.scan({ prefix, limit: 1, reverse: true })
      const found = await transaction.scan({ prefix, limit: atOnce })
      for (const { number, entry } of await entriesAt(transaction, found))
        if (last !== undefined && number < numberIn(last.key)) change.clear(number, entry)
      return found.length === atOnce
    })
  }

  async #forgetEditors(tenant: Tenant, prefix: readonly string[]): Promise<boolean | null> {
    const reader = this.#store.read(tenant)
    if ((await reader.scan({ prefix, limit: 1 })).length === 0) return false
    return this.#store.change(tenant, async (_change, transaction) => {
      const found = await transaction.scan({ prefix, limit: atOnce })
      for (const { key } of found) transaction.delete(key)
      return found.length === atOnce
    })
  }
}

/** Returns the events to which index entries refer. */
async function entriesAt(reader: DirectoryReader, index: readonly { readonly key: readonly string[] }[]) {
  const numbers = index.map(({ key }) => numberIn(key))
  const entries = await reader.getAll(numbers.map(keys.entry), feedEntryType)
  return numbers.flatMap((number, at) => {
    const entry = entries[at] ?? null
    return entry === null ? [] : [{ number, entry }]
  })
}
