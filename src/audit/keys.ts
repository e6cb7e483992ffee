import type { Key } from '../engine/engine.ts'

/** Id of the workspace whose log it is; null for the operator's log, which no workspace can read. */
export type AuditScope = string | null

/** Returns the partition of a log. */
export const auditPart = (place: AuditScope): Key =>
  place === null ? ['audit'] : ['audit', 'workspace', place]

/** Digits of an epoch time in milliseconds, up to the year 9999. */
const timeDigits = 15
/** Follows the time in an id; sorts before `afterTime`. */
const separator = '-'
const afterTime = '~'

export const auditKeys = {
  /** Prefix of all records, ordered by time. */
  records: ['records'] as Key,
  record: (id: string): Key => ['records', id],
  /** Sorts before every record of that millisecond. */
  startOf: (at: number): Key => ['records', padded(at)],
  /** Sorts after every record of that millisecond. */
  endOf: (at: number): Key => ['records', padded(at) + afterTime],
}

export const auditId = (at: number, rest: string): string => padded(at) + separator + rest

/** Limits a time to 15 digits, so that all ids keep the same length. */
const padded = (at: number): string => String(Math.min(at, 10 ** timeDigits - 1)).padStart(timeDigits, '0')
