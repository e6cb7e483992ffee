import { tenantPart } from '../directory/organizations/organization-keys.ts'
import type { Key } from '../engine/engine.ts'
import type { Tenant } from '../model/address.ts'

export type Decision = 'approve' | 'reject'

/** Where precedents are looked for: the whole API key, one organization, or one document of it. */
export interface JudgmentScope {
  readonly organizationId: string | null
  /** Null, too, when the organization is. */
  readonly documentId: string | null
}

/** The judgments of one reviewer: all of the API key, or those of one organization. */
export interface ReviewerScope {
  readonly reviewerId: string
  readonly organizationId: string | null
}

/** A decision that somebody made. */
export interface Judgment extends JudgmentScope {
  /** Ids sort by `judgedAt`. */
  readonly judgmentId: string
  /** What was judged. */
  readonly query: string
  readonly decision: Decision
  /** '' when none was given. */
  readonly reason: string
  /** '' when who it was has been forgotten. */
  readonly reviewerId: string
  /** Epoch milliseconds. */
  readonly judgedAt: number
}

/** Where a judgment is kept, and what it counts. */
export interface JudgmentLocation extends JudgmentScope {
  readonly characters: number
  /** As of the judgment. */
  readonly reviewerId: string
}

/** What an API key holds. Every change counts `changes`, so that no two are made at once. */
export interface MemoryState {
  readonly count: number
  readonly characters: number
  readonly changes: number
}

/** A judgment that a change is about. */
export interface JudgmentEdit extends JudgmentScope {
  readonly judgmentId: string
}

/** One change, for indexes to follow. */
export interface JudgmentChange {
  readonly added: readonly JudgmentEdit[]
  /** Their reviewers have been forgotten. */
  readonly anonymised: readonly JudgmentEdit[]
  readonly removed: readonly string[]
}

/** The judgments of an API key are one partition: those of organizations that are removed go by a prefix. */
export const memoryPart = (tenant: Tenant): Key => ['memory', ...tenantPart(tenant)]

/** No id is empty, so that what belongs to no organization, or to no document, stays apart. */
const nowhere = ''

export const judgmentKeys = {
  state: ['state'] as Key,
  /** All judgments of a place, those of its documents included. */
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
  /** Index: where each is, in the order of the times at which they were judged. */
  locations: ['locations'] as Key,
  location: (judgmentId: string): Key => ['locations', judgmentId],
  /** Index: the judgments of a reviewer, by organizations; in one of these in the order of their times. */
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
  /** The last changes by their numbers, from 1 on. */
  changes: ['changes'] as Key,
  change: (number: number): Key => ['changes', inOrder(number)],
}

/** The latest time that can be given, in epoch milliseconds: it has 13 digits. */
export const judgedAtMax = 9_999_999_999_999

/** @param unique tells it from others of the same time */
export const judgmentIdOf = (judgedAt: number, unique: string): string =>
  `${String(judgedAt).padStart(13, '0')}-${unique}`

/** Sorts as text as the numbers do; safe integers have at most 16 digits. */
const inOrder = (number: number): string => String(number).padStart(16, '0')
