import { randomUUID } from 'node:crypto'
import type { Clock } from '../../core/base/clock.ts'
import { requireResource } from '../../core/directory/documents/resource-lookup.ts'
import {
  keys,
  type OrganizationScope,
  type Resource,
} from '../../core/directory/organizations/organization-keys.ts'
import {
  noOrganization,
  type OrganizationStore,
} from '../../core/directory/organizations/organization-store.ts'
import { type BatchResults, forEachItem, ItemRejectedError } from '../../core/directory/store/batch.ts'
import { CachingDirectoryReader, type DirectoryReader } from '../../core/directory/store/directory-reader.ts'
import type { ListPage, PageRange } from '../../core/directory/store/list-page.ts'
import { organizationRecordType } from '../../core/directory/store/records.ts'
import { type Transaction, TransactionRunner } from '../../core/directory/store/transaction.ts'
import type { Tenant } from '../../core/model/address.ts'
import type { Key, Kv, KvEntry } from '../../core/store/engine.ts'
import { lastSegment } from '../../core/store/key-encoding.ts'
import { JudgmentIndexCache } from './judgment-index-cache.ts'
import {
  type Decision,
  type Judgment,
  type JudgmentLocation,
  type JudgmentScope,
  judgmentIdOf,
  judgmentKeys,
  judgmentLocationType,
  judgmentType,
  type MemoryState,
  memoryPart,
  memoryStateType,
  type ReviewerScope,
} from './judgment-keys.ts'
import { JudgmentWrite } from './judgment-write.ts'
import { memoryLimits } from './limits.ts'
import { type SuggestionResult, type SuggestionScope, weighPrecedents } from './suggestion.ts'

/**
 * The organization and the document for which a decision is requested. The document must belong to the
 * organization.
 */
export interface PlaceInput {
  readonly organizationId?: string | undefined
  readonly documentId?: string | undefined
}

interface JudgmentFilter extends PlaceInput {
  /** If present, selects only judgments that are similar to this text. */
  readonly query?: string | undefined
  readonly decision?: Decision | undefined
  readonly reviewerId?: string | undefined
  /** Maximum number of judgments to return; at least 1. */
  readonly limit: number
}

/** Maximum number of judgments that one commit removes or changes. */
const atOnce = 200

export interface JudgmentInput {
  readonly query: string
  readonly decision: Decision
  readonly reason?: string | undefined
  readonly reviewerId: string
  readonly organizationId?: string | undefined
  /** Id of the document. Allowed only together with `organizationId`. */
  readonly documentId?: string | undefined
  /** Time of the decision in epoch milliseconds. The default is the current time. */
  readonly judgedAt?: number | undefined
}

interface StoreLimits extends Pick<typeof memoryLimits, 'changes'> {
  readonly judgments: number
  readonly characters: number
}

/** Stores decisions of users as judgments, and suggests decisions from these precedents. */
export class DecisionMemory {
  readonly #kv: Kv
  readonly #organizations: OrganizationStore
  readonly #clock: Clock
  /** Limits of the store. The default is `memoryLimits`; tests use smaller limits. */
  readonly #limits: StoreLimits
  readonly #transactions: TransactionRunner
  readonly #indexes: JudgmentIndexCache

  constructor(kv: Kv, organizations: OrganizationStore, clock: Clock, limits: StoreLimits = memoryLimits) {
    this.#kv = kv
    this.#organizations = organizations
    this.#clock = clock
    this.#limits = limits
    this.#transactions = new TransactionRunner(kv)
    this.#indexes = new JudgmentIndexCache(kv)
  }

  /**
   * Stores a judgment, and returns its id. If a limit is then exceeded, the judgments with the oldest
   * `judgedAt` are deleted.
   * @param unique text that distinguishes judgments with the same time; a repeated call with the same value
   * adds nothing
   * @throws ApiError NOT_FOUND if the organization or the document does not exist; ABORTED if conflicts with
   * concurrent changes continue
   */
  async add(tenant: Tenant, input: JudgmentInput, unique: string = randomUUID()): Promise<string> {
    const { organizationId = null, documentId = null } = input
    const judgedAt = input.judgedAt ?? this.#clock.now()
    const judgment: Judgment = {
      judgmentId: judgmentIdOf(judgedAt, unique),
      query: input.query,
      decision: input.decision,
      reason: input.reason ?? '',
      reviewerId: input.reviewerId,
      organizationId,
      documentId,
      judgedAt,
    }
    if (organizationId === null) await this.#put(tenant, judgment)
    else await this.#putWithin({ ...tenant, organizationId }, judgment)
    return judgment.judgmentId
  }

  async delete(tenant: Tenant, judgmentIds: readonly string[]): Promise<BatchResults> {
    return this.#change(tenant, async (transaction, tally) => {
      await transaction.getAll(judgmentIds.map(judgmentKeys.location))
      return forEachItem(judgmentIds, null, async (judgmentId) => {
        const location = await transaction.get(judgmentKeys.location(judgmentId), judgmentLocationType)
        if (location === null)
          throw new ItemRejectedError('memory/judgment-not-found', 'there is no such judgment')
        tally.remove(judgmentId, location)
        return 'deleted'
      })
    })
  }

  /** Removes the judgments of an organization in bounded commits. @param goOn called between commits */
  async forget(scope: OrganizationScope, goOn: () => Promise<void>): Promise<void> {
    const prefix = judgmentKeys.within({ organizationId: scope.organizationId, documentId: null })
    for (let found = true; found; await goOn())
      found = await this.#change(scope, async (transaction, tally) => {
        const entries = await transaction.scan({ prefix, limit: atOnce })
        for (const [id, location] of await locationsOf(transaction, entries)) tally.remove(id, location)
        return entries.length > 0
      })
  }

  /**
   * Returns a page of the judgments of a reviewer. They are sorted by organization, then by time, the oldest
   * first.
   */
  async judgmentsOf(
    tenant: Tenant,
    scope: ReviewerScope,
    { after, limit }: PageRange,
  ): Promise<ListPage<Judgment>> {
    const reader = new CachingDirectoryReader(this.#kv, memoryPart(tenant))
    const prefix = judgmentKeys.reviewed(scope)
    const from = after === undefined ? {} : { after: reviewAt(scope.reviewerId, after) }
    const entries = await reader.scan({ prefix, limit: limit + 1, ...from })
    const shown = entries.slice(0, limit)
    const items = await reviewedAt(reader, shown)
    const last = shown.at(-1)?.key
    return { items, next: entries.length > limit && last !== undefined ? positionOf(last) : null }
  }

  /**
   * Removes the reviewer from as many judgments as one commit may change. The judgments remain as precedents,
   * and all erased reviewers count as one reviewer. Resolves with the number of changed judgments; 0 if no
   * judgment of the reviewer remains.
   */
  forgetReviewer(tenant: Tenant, scope: ReviewerScope): Promise<number> {
    const prefix = judgmentKeys.reviewed(scope)
    return this.#change(tenant, async (transaction, tally) => {
      const entries = await transaction.scan({ prefix, limit: atOnce })
      const judgments = await reviewedAt(transaction, entries)
      for (const judgment of judgments) tally.anonymize(judgment)
      return judgments.length
    })
  }

  /**
   * Returns the judgments that match the filter. If the filter has a text, the most relevant judgments come
   * first. Otherwise, the newest ones come first.
   */
  async query(tenant: Tenant, filter: JudgmentFilter): Promise<readonly Judgment[]> {
    const { organizationId = null, documentId = null, query, decision, reviewerId, limit } = filter
    const index = await this.#indexes.at(tenant, { organizationId, documentId })
    const fits = (judgment: Judgment): boolean =>
      (decision === undefined || judgment.decision === decision) &&
      (reviewerId === undefined || judgment.reviewerId === reviewerId)
    if (query === undefined) return newest(index.all(), fits, limit)
    const found = index.search(query).map(({ judgment }) => judgment)
    return found.filter(fits).slice(0, limit)
  }

  /**
   * Suggests a decision. The suggestion uses the narrowest scope in which at least one of the two sides has
   * enough precedents.
   */
  async suggest(tenant: Tenant, query: string, place: PlaceInput): Promise<SuggestionResult> {
    for (const [scope, { organizationId = null, documentId = null }] of scopesOf(place)) {
      const index = await this.#indexes.at(tenant, { organizationId, documentId })
      const suggested = weighPrecedents(index.search(query), scope, this.#clock.now())
      if (suggested !== null) return suggested
    }
    return { primary: null, conflict: null }
  }

  /**
   * Stores a judgment of an organization. The record of the organization is in another partition. If the
   * removal of the organization starts meanwhile, it may not find the new judgment. The organization is
   * therefore read again afterwards, and the judgment is deleted if the organization is being removed.
   */
  async #putWithin(scope: OrganizationScope, judgment: Judgment): Promise<void> {
    const before = this.#organizations.read(scope)
    await requireResource(before, resourceOf(judgment, scope))
    const known = await before.get(keys.organization, organizationRecordType)
    await this.#put(scope, judgment)
    const now = await this.#organizations.read(scope).get(keys.organization, organizationRecordType)
    if (now !== null && now.deleting !== true && now.createdAt === known?.createdAt) return
    await this.delete(scope, [judgment.judgmentId])
    throw noOrganization()
  }

  async #put(tenant: Tenant, judgment: Judgment): Promise<void> {
    await this.#change(tenant, async (transaction, tally) => {
      if ((await transaction.get(judgmentKeys.location(judgment.judgmentId))) !== null) return
      tally.add(judgment)
      if (!this.#isFull(tally.state)) return
      const oldest = await transaction.scan({ prefix: judgmentKeys.locations, limit: atOnce })
      for (const [id, location] of await locationsOf(transaction, oldest))
        if (this.#isFull(tally.state)) tally.remove(id, location)
    })
  }

  #isFull({ count, characters }: MemoryState): boolean {
    return count > this.#limits.judgments || characters > this.#limits.characters
  }

  /**
   * Changes judgments in a transaction. The state is read before `work` runs, and every change writes it.
   * Concurrent changes therefore conflict, and `work` never uses an outdated scan.
   */
  async #change<T>(
    tenant: Tenant,
    work: (transaction: Transaction, tally: JudgmentWrite) => Promise<T>,
  ): Promise<T> {
    const { changes } = this.#limits
    return this.#transactions.run(memoryPart(tenant), async (transaction) => {
      const state = await transaction.get(judgmentKeys.state, memoryStateType)
      const tally = new JudgmentWrite(transaction, state ?? { count: 0, characters: 0, changes: 0 })
      const answer = await work(transaction, tally)
      tally.end(changes)
      return answer
    })
  }
}

const resourceOf = ({ documentId }: JudgmentScope, { organizationId }: OrganizationScope): Resource =>
  documentId === null ? { type: 'organization', id: organizationId } : { type: 'document', id: documentId }

/** Returns the ids and the locations of the judgments to which index entries refer, without deleted ones. */
async function locationsOf(
  reader: DirectoryReader,
  entries: readonly KvEntry[],
): Promise<readonly (readonly [judgmentId: string, location: JudgmentLocation])[]> {
  const ids = entries.map(({ key }) => lastSegment(key))
  const locations = await reader.getAll(ids.map(judgmentKeys.location), judgmentLocationType)
  return ids.flatMap((id, index) => {
    const location = locations[index]
    return location == null ? [] : [[id, location] as const]
  })
}

/** Returns the judgments to which entries of the reviewer index refer, without deleted ones. */
async function reviewedAt(
  reader: DirectoryReader,
  entries: readonly KvEntry[],
): Promise<readonly Judgment[]> {
  const found = await locationsOf(reader, entries)
  const judgments = await reader.getAll(
    found.map(([id, location]) => judgmentKeys.judgment(location, id)),
    judgmentType,
  )
  return judgments.filter((judgment) => judgment !== null)
}

/** Returns the position of an entry of the reviewer index as text. The ids of judgments contain no slash. */
const positionOf = (entry: Key): string => entry.slice(-2).toReversed().join('/')

function reviewAt(reviewerId: string, position: string): Key {
  const slash = position.indexOf('/')
  return judgmentKeys.review(reviewerId, position.slice(slash + 1), position.slice(0, slash))
}

/** Returns the scopes that contain a place, the narrowest first. */
function scopesOf({ organizationId, documentId }: PlaceInput): readonly [SuggestionScope, PlaceInput][] {
  const scopes: [SuggestionScope, PlaceInput][] = [['apiKey', {}]]
  if (organizationId !== undefined) scopes.unshift(['organization', { organizationId }])
  if (documentId !== undefined) scopes.unshift(['document', { organizationId, documentId }])
  return scopes
}

/**
 * Returns the newest matching judgments without sorting all judgments. The order of the ids is the order of
 * the times.
 */
function newest(
  judgments: Iterable<Judgment>,
  fits: (judgment: Judgment) => boolean,
  limit: number,
): readonly Judgment[] {
  const top: Judgment[] = []
  for (const judgment of judgments) {
    const last = top.at(-1)
    if (top.length === limit && last !== undefined && last.judgmentId > judgment.judgmentId) continue
    if (!fits(judgment)) continue
    const at = top.findIndex(({ judgmentId }) => judgmentId < judgment.judgmentId)
    top.splice(at === -1 ? top.length : at, 0, judgment)
    if (top.length > limit) top.pop()
  }
  return top
}
