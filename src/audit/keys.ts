import type { Key } from '../engine/engine.ts'

/** Id of the workspace that a log belongs to; null for the operator's log, which no workspace can read. */
export type AuditScope = string | null

/** Returns the partition of a log. */
export const auditPart = (place: AuditScope): Key =>
  place === null ? ['audit'] : ['audit', 'workspace', place]

/** Number of digits of a time in an id. It suffices for epoch milliseconds up to the year 9999. */
const timeDigits = 15
/** Separates the time in an id from the rest. It sorts before `afterTime`. */
const separator = '-'
const afterTime = '~'

export const auditKeys = {
  /** Prefix of all records, ordered by time. */
  records: ['records'] as Key,
  record: (id: string): Key => ['records', id],
  /** Returns a key that sorts before every record of this millisecond. */
  startOf: (at: number): Key => ['records', padded(at)],
  /** Returns a key that sorts after every record of this millisecond. */
  endOf: (at: number): Key => ['records', padded(at) + afterTime],
}

export const auditId = (at: number, rest: string): string => padded(at) + separator + rest

/** Returns a time as 15 digits, so that all ids have the same length. Later times become the maximum. */
const padded = (at: number): string => String(Math.min(at, 10 ** timeDigits - 1)).padStart(timeDigits, '0')
