import type { ChangeOrigin } from '../../model/change-origin.ts'

/** Ids of one client from `clock`, for `length` clocks, that one change has inserted or deleted. */
export interface AttributedRange {
  readonly clock: number
  readonly length: number
  readonly origin: ChangeOrigin
}

/**
 * The origins of the inserted ids of a document, and of the deleted ones, by client. The ranges of one client are
 * disjoint and in the order of their clocks. An id that no range contains has an unknown origin.
 */
export interface Attribution {
  readonly inserted: ReadonlyMap<number, readonly AttributedRange[]>
  readonly deleted: ReadonlyMap<number, readonly AttributedRange[]>
}

/** The attribution of a document in which all origins are unknown. */
export const noAttribution: Attribution = { inserted: new Map(), deleted: new Map() }
