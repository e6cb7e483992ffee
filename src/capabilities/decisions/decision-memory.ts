import type { Clock } from '../../core/base/clock.ts'
import type { OrganizationScope } from '../../core/directory/organizations/organization-keys.ts'
import type { OrganizationStore } from '../../core/directory/organizations/organization-store.ts'
import type { BatchResults } from '../../core/directory/store/batch.ts'
import type { ListPage, PageRange } from '../../core/directory/store/list-page.ts'
import type { Tenant } from '../../core/model/address.ts'
import type { Kv } from '../../core/store/engine.ts'
import { JudgmentIndexCache } from './judgment-index-cache.ts'
import type { Decision, Judgment, ReviewerScope } from './judgment-keys.ts'
import { type JudgmentInput, JudgmentStore } from './judgment-store.ts'
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

/** Stores decisions of users as judgments, and suggests decisions from these precedents. */
export class DecisionMemory {
  readonly #judgments: JudgmentStore
  readonly #indexes: JudgmentIndexCache
  readonly #clock: Clock

  constructor(kv: Kv, organizations: OrganizationStore, clock: Clock) {
    this.#judgments = new JudgmentStore(kv, organizations, clock)
    this.#indexes = new JudgmentIndexCache(kv)
    this.#clock = clock
  }

  /** Stores a judgment. See `JudgmentStore.add`. */
  add(tenant: Tenant, input: JudgmentInput, unique?: string): Promise<string> {
    return this.#judgments.add(tenant, input, unique)
  }

  delete(tenant: Tenant, judgmentIds: readonly string[]): Promise<BatchResults> {
    return this.#judgments.delete(tenant, judgmentIds)
  }

  /** Returns the judgments of a reviewer. See `JudgmentStore.listReviewed`. */
  judgmentsOf(tenant: Tenant, scope: ReviewerScope, range: PageRange): Promise<ListPage<Judgment>> {
    return this.#judgments.listReviewed(tenant, scope, range)
  }

  /** Removes a reviewer from judgments. See `JudgmentStore.forgetReviewer`. */
  forgetReviewer(tenant: Tenant, scope: ReviewerScope): Promise<number> {
    return this.#judgments.forgetReviewer(tenant, scope)
  }

  /** Removes the judgments of an organization. @param goOn called between commits */
  forget(scope: OrganizationScope, goOn: () => Promise<void>): Promise<void> {
    return this.#judgments.forget(scope, goOn)
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
