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
import type { Key, Kv } from '../../core/store/engine.ts'
import { lastSegment } from '../../core/store/key-encoding.ts'
import {
  type Decision,
  type Judgment,
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

/** Stores the judgments of tenants. */
export class JudgmentStore {
  readonly #kv: Kv
  readonly #organizations: OrganizationStore
  readonly #clock: Clock
  /** Limits of the store. The default is `memoryLimits`; tests use smaller limits. */
  readonly #limits: StoreLimits
  readonly #transactions: TransactionRunner

  constructor(kv: Kv, organizations: OrganizationStore, clock: Clock, limits: StoreLimits = memoryLimits) {
    this.#kv = kv
    this.#organizations = organizations
    this.#clock = clock
    this.#limits = limits
    this.#transactions = new TransactionRunner(kv)
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
      return forEachItem(
        judgmentIds,
        (id) => id,
        async (judgmentId) => {
          const location = await transaction.get(judgmentKeys.location(judgmentId), judgmentLocationType)
          if (location === null)
            throw new ItemRejectedError('memory/judgment-not-found', 'there is no such judgment')
          tally.remove(judgmentId, location)
          return 'deleted'
        },
      )
    })
  }

  /** Removes the judgments of an organization in bounded commits. @param goOn called between commits */
  async forget(scope: OrganizationScope, goOn: () => Promise<void>): Promise<void> {
    const prefix = judgmentKeys.within({ organizationId: scope.organizationId, documentId: null })
    for (let found = true; found; await goOn())
      found = await this.#change(scope, async (transaction, tally) => {
        const entries = await transaction.scan({ prefix, limit: atOnce })
        const ids = entries.map(({ key }) => lastSegment(key))
        const locations = await transaction.getAll(ids.map(judgmentKeys.location), judgmentLocationType)
        for (const [index, location] of locations.entries())
          if (location !== null) tally.remove(ids[index] as string, location)
        return entries.length > 0
      })
  }

  /**
   * Returns a page of the judgments of a reviewer. They are sorted by organization, then by time, the oldest
   * first.
   */
  async listReviewed(
    tenant: Tenant,
    scope: ReviewerScope,
    { after, limit }: PageRange,
  ): Promise<ListPage<Judgment>> {
    const [reader, prefix] = [
      new CachingDirectoryReader(this.#kv, memoryPart(tenant)),
      judgmentKeys.reviewed(scope),
    ]
    const from = after === undefined ? {} : { after: reviewAt(scope.reviewerId, after) }
    const entries = await reader.scan({ prefix, limit: limit + 1, ...from })
    const shown = entries.slice(0, limit).map(({ key }) => key)
    const items = await reviewedAt(reader, shown)
    const last = shown.at(-1)
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
      const judgments = await reviewedAt(
        transaction,
        entries.map(({ key }) => key),
      )
      for (const judgment of judgments) tally.anonymize(judgment)
      return judgments.length
    })
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
      const ids = oldest.map(({ key }) => lastSegment(key))
      const locations = await transaction.getAll(ids.map(judgmentKeys.location), judgmentLocationType)
      for (const [index, location] of locations.entries())
        if (location !== null && this.#isFull(tally.state)) tally.remove(ids[index] as string, location)
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
    const { result } = await this.#transactions.run(memoryPart(tenant), async (transaction) => {
      const state = await transaction.get(judgmentKeys.state, memoryStateType)
      const tally = new JudgmentWrite(transaction, state ?? { count: 0, characters: 0, changes: 0 })
      const answer = await work(transaction, tally)
      tally.end(changes)
      return answer
    })
    return result
  }
}

const resourceOf = ({ documentId }: JudgmentScope, { organizationId }: OrganizationScope): Resource =>
  documentId === null ? { type: 'organization', id: organizationId } : { type: 'document', id: documentId }

/**
 * Returns the judgments to which entries of the reviewer index refer. Judgments that were deleted meanwhile
 * are left out.
 */
async function reviewedAt(reader: DirectoryReader, entries: readonly Key[]): Promise<readonly Judgment[]> {
  const ids = entries.map((key) => lastSegment(key))
  const locations = await reader.getAll(ids.map(judgmentKeys.location), judgmentLocationType)
  const keysOf = ids.flatMap((id, index) => {
    const location = locations[index]
    return location == null ? [] : [judgmentKeys.judgment(location, id)]
  })
  const judgments = await reader.getAll(keysOf, judgmentType)
  return judgments.filter((judgment) => judgment !== null)
}

/** Returns the position of an entry of the reviewer index as text. The ids of judgments contain no slash. */
const positionOf = (entry: Key): string => entry.slice(-2).toReversed().join('/')

function reviewAt(reviewerId: string, position: string): Key {
  const slash = position.indexOf('/')
  return judgmentKeys.review(reviewerId, position.slice(slash + 1), position.slice(0, slash))
}
