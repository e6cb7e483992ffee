import * as v from 'valibot'
import { tenantPart } from '../directory/organizations/organization-keys.ts'
import type { RecordType } from '../directory/store/records.ts'
import type { Key } from '../engine/engine.ts'
import type { Tenant } from '../model/address.ts'

export type Decision = 'approve' | 'reject'

/** Scope of precedents: the API key, one organization, or one document of it. */
export interface JudgmentScope {
  readonly organizationId: string | null
  /** Null if the organization is null. */
  readonly documentId: string | null
}

const scopeEntries = { organizationId: v.nullable(v.string()), documentId: v.nullable(v.string()) }

/** The judgments of one reviewer, in the API key or in one organization. */
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
  /** '' if there is none. */
  readonly reason: string
  /** '' if the reviewer has been erased. */
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
    // A newer version may have other decisions.
    decision: v.custom<Decision>((decision) => typeof decision === 'string'),
    reason: v.string(),
    reviewerId: v.string(),
    judgedAt: v.number(),
  }),
}

/** Index entry: the place of a judgment and its size. */
export interface JudgmentLocation extends JudgmentScope {
  readonly characters: number
  /** Reviewer of the judgment. */
  readonly reviewerId: string
}

export const judgmentLocationType: RecordType<JudgmentLocation> = {
  name: 'judgment location',
  schema: v.looseObject({ ...scopeEntries, characters: v.number(), reviewerId: v.string() }),
}

/** Totals of an API key. Every change increments `changes`, so that concurrent changes conflict. */
export interface MemoryState {
  readonly count: number
  readonly characters: number
  readonly changes: number
}

export const memoryStateType: RecordType<MemoryState> = {
  name: 'judgment totals',
  schema: v.looseObject({ count: v.number(), characters: v.number(), changes: v.number() }),
}

/** A judgment that was changed. */
export interface JudgmentEdit extends JudgmentScope {
  readonly judgmentId: string
}

/** A change that indexes follow. */
export interface JudgmentChange {
  readonly added: readonly JudgmentEdit[]
  /** Judgments whose reviewers were erased. */
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

/** The partition with the judgments of an API key. The judgments of a removed organization are deleted by prefix. */
export const memoryPart = (tenant: Tenant): Key => ['memory', ...tenantPart(tenant)]

/** Key segment of judgments without an organization or without a document. No id is empty. */
const nowhere = ''

export const judgmentKeys = {
  state: ['state'] as Key,
  /** Prefix of all judgments of a scope, including those of its documents. */
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
  /** Index of all judgments, ordered by `judgedAt`. */
  locations: ['locations'] as Key,
  location: (judgmentId: string): Key => ['locations', judgmentId],
  /** Index of the judgments of a reviewer, by organization and then by time. */
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
  /** The most recent changes by their numbers, from 1. */
  changes: ['changes'] as Key,
  change: (number: number): Key => ['changes', inOrder(number)],
}

/** Maximum of `judgedAt`: 13 digits. */
export const judgedAtMax = 9_999_999_999_999

/** Returns the id of a judgment. @param unique distinguishes judgments of the same time */
export const judgmentIdOf = (judgedAt: number, unique: string): string =>
  `${String(judgedAt).padStart(13, '0')}-${unique}`

/** Formats a number so that texts sort as the numbers do. Safe integers have at most 16 digits. */
const inOrder = (number: number): string => String(number).padStart(16, '0')
