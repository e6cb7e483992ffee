import type { Key } from '../engine/engine.ts'

/** Whose log it is: a workspace's; null: the operator's, which no workspace sees. */
export type AuditScope = string | null

/** The partition of a log. */
export const auditPart = (place: AuditScope): Key =>
  place === null ? ['audit'] : ['audit', 'workspace', place]

/** Milliseconds of the year 9999 have 15 digits. */
const timeDigits = 15
/** Follows the time in an id; sorts before `afterTime`. */
const separator = '-'
const afterTime = '~'

export const auditKeys = {
  /** All records, by time. */
  records: ['records'] as Key,
  record: (id: string): Key => ['records', id],
  /** Before every record of that millisecond. */
  startOf: (at: number): Key => ['records', padded(at)],
  /** After every record of that millisecond. */
  endOf: (at: number): Key => ['records', padded(at) + afterTime],
}

export const auditId = (at: number, rest: string): string => padded(at) + separator + rest

/** Later times than can be are as good as the end of time. */
const padded = (at: number): string => String(Math.min(at, 10 ** timeDigits - 1)).padStart(timeDigits, '0')
