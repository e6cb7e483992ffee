import type { Key } from '../store/engine.ts'

/**
 * Identifies a log: the id of the workspace to which the log belongs, or null for the log of the operator,
 * which no workspace can read.
 */
export type AuditScope = string | null

/** Returns the partition that contains a log. */
export const auditPart = (place: AuditScope): Key =>
  place === null ? ['audit'] : ['audit', 'workspace', place]

/** Number of digits of the time in an id. This number suffices for epoch milliseconds up to the year 9999. */
const timeDigits = 15
/** Character between the time and the rest of an id. It sorts before `afterTime`. */
const separator = '-'
const afterTime = '~'

export const auditKeys = {
  /** Prefix of all records. Records are sorted by time. */
  records: ['records'],
  record: (id: string): Key => ['records', id],
  /** Returns a key that sorts before every record of this millisecond. */
  startOf: (at: number): Key => ['records', padded(at)],
  /** Returns a key that sorts after every record of this millisecond. */
  endOf: (at: number): Key => ['records', padded(at) + afterTime],
}

export const auditId = (at: number, rest: string): string => padded(at) + separator + rest

/**
 * Returns a time as text with 15 digits, so that all ids have the same length. A time that has more digits is
 * replaced by the maximum.
 */
const padded = (at: number): string => String(Math.min(at, 10 ** timeDigits - 1)).padStart(timeDigits, '0')
