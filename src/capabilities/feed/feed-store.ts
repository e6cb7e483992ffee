import { createHash, randomUUID } from 'node:crypto'
import { CachingDirectoryReader, type DirectoryReader } from '../../core/directory/store/directory-reader.ts'
import { type Transaction, TransactionRunner } from '../../core/directory/store/transaction.ts'
import type { Tenant } from '../../core/model/address.ts'
import { deletedUserId } from '../../core/model/deleted-user.ts'
import { findNamedUsers } from '../../core/model/named-users.ts'
import type { Engine, Key } from '../../core/store/engine.ts'
import { readRecord } from '../../core/store/stored-record.ts'
import type { Services } from '../../rest/services.ts'
import type { SubscriptionCache } from '../webhooks/subscription-cache.ts'
import {
  encodeFeedNotice,
  type FeedEntry,
  type FeedEvent,
  type FeedState,
  feedEntryType,
  feedPart,
  feedStateType,
  feedSweepJob,
  feedTopic,
  feedKeys as keys,
  numberIn,
  userIdMembers,
} from './feed-records.ts'
import { feedLimits } from './limits.ts'

/** What the parts of the feed use. */
export interface ServicesOfFeed
  extends Pick<
    Services,
    'engine' | 'clock' | 'log' | 'metrics' | 'store' | 'feedRemoval' | 'webhookConfigs' | 'stopping'
  > {
  readonly subscriptions: Pick<SubscriptionCache, 'feedOf' | 'outdatedMs'>
}

/** What a feed needs of an engine. */
export type FeedEngine = Pick<Engine, 'kv' | 'bus'>

/** Stores the feeds of API keys. Each feed has its own partition. */
export class FeedStore {
  readonly #engine: FeedEngine
  readonly #transactions: TransactionRunner

  constructor(engine: FeedEngine) {
    this.#engine = engine
    this.#transactions = new TransactionRunner(engine.kv)
  }

  /** Returns a reader for one call. Do not reuse it, because it caches records. */
  read(tenant: Tenant): DirectoryReader {
    return new CachingDirectoryReader(this.#engine.kv, feedPart(tenant))
  }

  /**
   * Runs one change of a feed, and notifies the readers of all nodes.
   * @param ifOff the effect if the feed is off: `begin` turns it on, with a new generation; `skip` returns null
   * without running `work`
   * @throws ApiError ABORTED if conflicts with concurrent changes continue; the errors of `work`
   */
  async change<T>(
    tenant: Tenant,
    work: (change: FeedChange, transaction: Transaction) => Promise<T>,
    ifOff: 'begin' | 'skip' = 'skip',
  ): Promise<T | null> {
    const result = await this.#transactions.run(feedPart(tenant), async (transaction) => {
      const before = await transaction.get(keys.state, feedStateType)
      if (before?.enabled !== true && ifOff === 'skip') return null
      const change = new FeedChange(transaction, before?.enabled === true ? before : firstState(before))
      const done = await work(change, transaction)
      if (change.state !== before) transaction.put(keys.state, change.state)
      return done
    })
    this.#engine.bus.publish(feedTopic, encodeFeedNotice(tenant))
    return result
  }

  /** Turns a feed on, unless it is on. */
  async begin(tenant: Tenant): Promise<void> {
    await this.change(tenant, async () => {}, 'begin')
  }

  /**
   * Turns a feed off. Its records are removed in the background.
   * @param now epoch milliseconds
   */
  async end(tenant: Tenant, now: number): Promise<void> {
    await this.#transactions.run(feedPart(tenant), async (transaction) => {
      const state = await transaction.get(keys.state, feedStateType)
      if (state === null) return
      transaction.put(keys.state, { ...state, enabled: false } satisfies FeedState)
      transaction.enqueue(feedSweepJob(tenant, now))
    })
    this.#engine.bus.publish(feedTopic, encodeFeedNotice(tenant))
  }

  /** Removes up to `limit` records of a feed that is off. Returns whether records may remain. */
  purge(tenant: Tenant, limit: number): Promise<boolean> {
    return this.#transactions.run(feedPart(tenant), async (transaction) => {
      if ((await transaction.get(keys.state, feedStateType))?.enabled === true) return false
      const entries = await transaction.scan({ limit })
      for (const { key } of entries) transaction.delete(key)
      return entries.length === limit
    })
  }
}

/** Value of `oldestAt` of a feed without events. */
const never = Number.MAX_SAFE_INTEGER

/** One change of a feed, as part of a transaction on its partition. The transaction stores the state that it leaves. */
export class FeedChange {
  readonly #transaction: Transaction
  #state: FeedState

  constructor(transaction: Transaction, state: FeedState) {
    this.#transaction = transaction
    this.#state = state
  }

  get state(): FeedState {
    return this.#state
  }

  /** Adds an event with the next number. */
  add(id: string, event: FeedEvent, addedAt: number): void {
    const number = this.#state.last + 1
    const { oldestAt, lastChain } = this.#state
    const chain = nextChain(lastChain, id)
    this.#state = {
      ...this.#state,
      last: number,
      lastChain: chain,
      oldestAt: Math.min(oldestAt, addedAt),
    }
    this.#transaction.put(keys.entry(number), { id, chain, addedAt, event } satisfies FeedEntry)
    this.#transaction.put(keys.numberOf(id), { number })
    for (const key of indexKeys(event, number)) this.#transaction.put(key, {})
  }

  /** Replaces an event by the same event with other users. */
  replace(number: number, before: FeedEntry, event: FeedEvent): void {
    if (before.event === null) return
    for (const key of indexKeys(before.event, number)) this.#transaction.delete(key)
    this.#transaction.put(keys.entry(number), { ...before, event } satisfies FeedEntry)
    for (const key of indexKeys(event, number)) this.#transaction.put(key, {})
  }

  /** Removes an event, and keeps its place. */
  clear(number: number, before: FeedEntry): void {
    if (before.event === null) return
    for (const key of indexKeys(before.event, number)) this.#transaction.delete(key)
    this.#transaction.put(keys.entry(number), { ...before, event: null } satisfies FeedEntry)
  }

  /**
   * Removes the oldest events that are too old or too many, at most `limit`. Returns whether more may remain.
   * @param before events that were added before this time are too old, in epoch milliseconds
   * @param entriesMax maximum number of kept events
   */
  async trim(before: number, limit: number, entriesMax: number = feedLimits.entries): Promise<boolean> {
    const { last, trimmed, oldestAt } = this.#state
    const excess = last - entriesMax
    if (trimmed >= excess && oldestAt >= before) return false
    const stored = await this.#transaction.scan({ prefix: keys.entries, limit: limit + 1 })
    const entries = stored.map((each) => ({
      number: numberIn(each.key),
      entry: readRecord(feedEntryType, each),
    }))
    const kept = entries.findIndex(
      ({ number, entry }) => number > Math.max(trimmed, excess) && entry.addedAt >= before,
    )
    const removed = entries.slice(0, kept === -1 ? limit : Math.min(kept, limit))
    for (const { number, entry } of removed) this.#remove(number, entry)
    const next = entries[removed.length]
    const newest = removed.at(-1)
    const upTo = Math.max(trimmed, newest?.number ?? 0)
    this.#state = {
      ...this.#state,
      trimmed: upTo,
      trimmedChain: newest !== undefined && upTo > trimmed ? newest.entry.chain : this.#state.trimmedChain,
      oldestAt: oldestTime(next, upTo, before),
    }
    return removed.length === limit
  }

  #remove(number: number, { id, event }: FeedEntry): void {
    this.#transaction.delete(keys.entry(number))
    this.#transaction.delete(keys.numberOf(id))
    if (event !== null) for (const key of indexKeys(event, number)) this.#transaction.delete(key)
  }
}

/**
 * Returns the time before which no stored event was added.
 * @param next the oldest event that is left; undefined if only events of this transaction are left
 */
function oldestTime(
  next: { readonly number: number; readonly entry: FeedEntry } | undefined,
  trimmed: number,
  before: number,
): number {
  if (next === undefined) return before
  // An event of an earlier generation must be removed at any age.
  return next.number <= trimmed ? 0 : next.entry.addedAt
}

/** The state of a feed that was off. Its generation has no events. Events of earlier generations are old. */
const firstState = (before: FeedState | null): FeedState => ({
  enabled: true,
  generation: randomUUID().slice(0, 8),
  last: before?.last ?? 0,
  trimmed: before?.last ?? 0,
  oldestAt: before === null ? never : 0,
  lastChain: '',
  trimmedChain: '',
})

/** Number of hex digits of a chain. */
const chainDigits = 12

/** Returns the chain of an event that follows the event with the chain `before`. */
const nextChain = (before: string, id: string): string =>
  createHash('sha256').update(`${before} ${id}`).digest('hex').slice(0, chainDigits)

/** Returns the keys of all index entries of an event. */
const indexKeys = (event: FeedEvent, number: number): readonly Key[] => [
  keys.ofOrganization(event.organizationId, number),
  ...[...findNamedUsers(event, userIdMembers)]
    .filter((userId) => userId !== deletedUserId)
    .map((userId) => keys.namingUser(event.organizationId, userId, number)),
]
