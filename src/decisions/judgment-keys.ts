import * as v from 'valibot'
import { tenantPart } from '../directory/organizations/organization-keys.ts'
import type { RecordType } from '../directory/store/records.ts'
import type { Key } from '../engine/engine.ts'
import type { Tenant } from '../model/address.ts'

export type Decision = 'approve' | 'reject'

/** Scope of precedents: the API key, an organization, or a document of the organization. */
export interface JudgmentScope {
  readonly organizationId: string | null
  /** Must be null if the organization is null. */
  readonly documentId: string | null
}

const scopeEntries = { organizationId: v.nullable(v.string()), documentId: v.nullable(v.string()) }

/** Selects the judgments of one reviewer, in the API key or in one organization. */
export interface ReviewerScope {
  readonly reviewerId: string
  readonly organizationId: string | null
}

/** A decision of a user. */
export interface Judgment extends JudgmentScope {
  /** Ids sort by `judgedAt`. */
  readonly judgmentId: string
  /** The judged text. */
  readonly query: string
  readonly decision: Decision
  /** Empty if there is none. */
  readonly reason: string
  /** Empty if the reviewer was erased. */
  readonly reviewerId: string
  /** Epoch milliseconds. */
  readonly judgedAt: number
}

export const judgmentType: RecordType<Judgment> = {
  name: 'judgment',
  schema: v.looseObject({
    ...scopeEntries,
    judgmentId: v.string(),
    query: v.string(),
    // A newer version may store decisions that this version does not know.
    decision: v.custom<Decision>((decision) => typeof decision === 'string'),
    reason: v.string(),
    reviewerId: v.string(),
    judgedAt: v.number(),
  }),
}

/** Index entry: the place of a judgment and its size. */
export interface JudgmentLocation extends JudgmentScope {
  readonly characters: number
  /** The reviewer of the judgment. */
  readonly reviewerId: string
}

export const judgmentLocationType: RecordType<JudgmentLocation> = {
  name: 'judgment location',
  schema: v.looseObject({ ...scopeEntries, characters: v.number(), reviewerId: v.string() }),
}

/**
 * Totals of an API key. Every change of the judgments increments `changes`, so that concurrent changes
 * conflict.
 */
export interface MemoryState {
  readonly count: number
  readonly characters: number
  readonly changes: number
}

export const memoryStateType: RecordType<MemoryState> = {
  name: 'judgment totals',
  schema: v.looseObject({ count: v.number(), characters: v.number(), changes: v.number() }),
}

/** Identifies a judgment that was changed. */
export interface JudgmentEdit extends JudgmentScope {
  readonly judgmentId: string
}

/** A stored change, from which the indexes are updated. */
export interface JudgmentChange {
  readonly added: readonly JudgmentEdit[]
  /** Judgments whose reviewer was erased. */
  readonly anonymised: readonly JudgmentEdit[]
  readonly removed: readonly string[]
}

const editSchema = v.looseObject({ ...scopeEntries, judgmentId: v.string() })

export const judgmentChangeType: RecordType<JudgmentChange> = {
  name: 'change of judgments',
  schema: v.looseObject({
    added: v.array(editSchema),
    anonymised: v.array(editSchema),
    removed: v.array(v.string()),
  }),
}

/**
 * The partition with the judgments of an API key. To remove an organization, its judgments are deleted by
 * their key prefix.
 */
export const memoryPart = (tenant: Tenant): Key => ['memory', ...tenantPart(tenant)]

/** Key segment for "no organization" or "no document". An id is never empty. */
const nowhere = ''

export const judgmentKeys = {
  state: ['state'] as Key,
  /** Prefix of all judgments of a scope, including those of the documents in it. */
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
  locations: ['locations'] as Key,
  location: (judgmentId: string): Key => ['locations', judgmentId],
  /** Index: the judgments of a reviewer, sorted by organization, then by time. */
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
  /** The most recent changes, by their numbers. The first change has the number 1. */
  changes: ['changes'] as Key,
  change: (number: number): Key => ['changes', inOrder(number)],
}

/** Maximum of `judgedAt`, which has 13 digits. */
export const judgedAtMax = 9_999_999_999_999

/** Returns the id of a judgment. @param unique distinguishes judgments of the same time */
export const judgmentIdOf = (judgedAt: number, unique: string): string =>
  `${String(judgedAt).padStart(13, '0')}-${unique}`

/** Returns a number as text that sorts like the number. Safe integers have at most 16 digits. */
const inOrder = (number: number): string => String(number).padStart(16, '0')
