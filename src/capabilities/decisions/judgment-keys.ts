import * as s from '../../core/base/schema.ts'
import { tenantPart } from '../../core/directory/organizations/organization-keys.ts'
import type { Tenant } from '../../core/model/address.ts'
import type { Key } from '../../core/store/engine.ts'

export type Decision = 'approve' | 'reject'

/** Scope of precedents: an API key, an organization, or a document of the organization. */
export interface JudgmentScope {
  readonly organizationId: string | null
  /** Id of the document. It must be null if the organization is null. */
  readonly documentId: string | null
}

const scopeEntries = { organizationId: s.orNull(s.string), documentId: s.orNull(s.string) }

/** Selects the judgments of one reviewer, either of the whole API key or of one organization. */
export interface ReviewerScope {
  readonly reviewerId: string
  readonly organizationId: string | null
}

/** A decision of a user. */
export const judgmentType = {
  name: 'judgment',
  schema: s.object({
    ...scopeEntries,
    /** Id of the judgment. The order of the ids is the order of `judgedAt`. */
    judgmentId: s.string,
    query: s.string,
    // A newer version of Weft may store decisions that this version does not know.
    decision: s.trusted<Decision>(s.string),
    /** Reason that the reviewer gave; empty if there is none. */
    reason: s.string,
    /** Id of the reviewer; empty if the reviewer was erased. */
    reviewerId: s.string,
    /** Time of the decision in epoch milliseconds. */
    judgedAt: s.number,
  }),
}
export type Judgment = s.TypeOf<typeof judgmentType.schema>

/** Index entry under the id of a judgment. It contains the scope and the size of the judgment. */
export const judgmentLocationType = {
  name: 'judgment location',
  schema: s.object({ ...scopeEntries, characters: s.number, reviewerId: s.string }),
}
export type JudgmentLocation = s.TypeOf<typeof judgmentLocationType.schema>

/**
 * Total numbers of an API key. Every change of the judgments increments `changes`, so concurrent changes
 * conflict.
 */
export const memoryStateType = {
  name: 'judgment totals',
  schema: s.object({ count: s.number, characters: s.number, changes: s.number }),
}
export type MemoryState = s.TypeOf<typeof memoryStateType.schema>

/** Identifies a judgment that a change has added or changed. */
const editSchema = s.object({ ...scopeEntries, judgmentId: s.string })
export type JudgmentEdit = s.TypeOf<typeof editSchema>

/** A stored change of judgments. Nodes use it to update their indexes. */
export const judgmentChangeType = {
  name: 'change of judgments',
  schema: s.object({
    added: s.array(editSchema),
    /** Judgments from which an erased reviewer was removed. */
    anonymised: s.array(editSchema),
    removed: s.array(s.string),
  }),
}
export type JudgmentChange = s.TypeOf<typeof judgmentChangeType.schema>

/**
 * Returns the partition with the judgments of an API key. The judgments of an organization have a common key
 * prefix, which is used to remove them.
 */
export const memoryPart = (tenant: Tenant): Key => ['memory', ...tenantPart(tenant)]

/** Segment of a key that stands for "no organization" or "no document". An id is never empty. */
const nowhere = ''

export const judgmentKeys = {
  state: ['state'],
  /**
   * Prefix of the keys of all judgments of a scope. It includes the judgments of all documents in the scope.
   */
  within: ({ organizationId, documentId }: JudgmentScope): Key => [
    'judgments',
    ...(organizationId === null ? [] : [organizationId]),
    ...(documentId === null ? [] : [documentId]),
  ],
  judgment: ({ organizationId, documentId }: JudgmentScope, judgmentId: string): Key => [
    'judgments',
    organizationId ?? nowhere,
    documentId ?? nowhere,
    judgmentId,
  ],
  /** Index: all judgments, sorted by `judgedAt`. */
  locations: ['locations'],
  location: (judgmentId: string): Key => ['locations', judgmentId],
  /** Index: the judgments of a reviewer, sorted by organization and then by time. */
  reviewed: ({ reviewerId, organizationId }: ReviewerScope): Key => [
    'reviewers',
    reviewerId,
    ...(organizationId === null ? [] : [organizationId]),
  ],
  review: (reviewerId: string, organizationId: string | null, judgmentId: string): Key => [
    'reviewers',
    reviewerId,
    organizationId ?? nowhere,
    judgmentId,
  ],
  /** The most recent changes, under their numbers. The first change has the number 1. */
  changes: ['changes'],
  change: (number: number): Key => ['changes', inOrder(number)],
}

/** Maximum value of `judgedAt`, because ids contain it with 13 digits. */
export const judgedAtMax = 9_999_999_999_999

/** Returns the id of a judgment. @param unique text that distinguishes judgments with the same time */
export const judgmentIdOf = (judgedAt: number, unique: string): string =>
  `${String(judgedAt).padStart(13, '0')}-${unique}`

/**
 * Returns a number as text that sorts like the number. It has 16 digits, because safe integers have at most
 * 16 digits.
 */
const inOrder = (number: number): string => String(number).padStart(16, '0')
