import * as s from '../../core/base/schema.ts'
import type { Tenant } from '../../core/model/address.ts'
import type { Key } from '../../core/store/engine.ts'

export const msPerHour = 3_600_000
export const msPerDay = 24 * msPerHour

/** Identifies an organization within a workspace. */
export interface OrganizationOfKey extends Pick<Tenant, 'apiKey'> {
  readonly organizationId: string
}

export interface MeasuredBytes {
  readonly bytes: number
  /** Time of the measurement, in epoch milliseconds. */
  readonly at: number
}

/** The usage of a workspace or an organization, during one hour on one node, or during one day. */
export const usageRecordType = {
  name: 'usage record',
  schema: s.object(
    {
      /** Name of the node; '' in the record of a day. */
      node: s.string,
      /** Number of connections that were opened. */
      opened: s.number,
      /** Maximum number of connections that were open at the same time. */
      peak: s.number,
      /** Sum of the milliseconds for which connections were open. */
      openMs: s.number,
      updates: s.number,
      bytesSent: s.number,
      calls: s.number,
    },
    {
      /** The last measurement of the stored bytes of the workspace. Absent if there is none. */
      stored: s.object({ bytes: s.number, at: s.number }),
    },
  ),
}
export type UsageRecord = s.TypeOf<typeof usageRecordType.schema>

/** Length of the time that a record covers. */
export type RecordPeriod = 'hours' | 'days'

/** The workspace itself (null), or one of its organizations. */
export type UsageSubject = OrganizationOfKey | null

export const usagePart = (workspaceId: string): Key => ['usage', workspaceId]

export const organizationsPrefix = (period: RecordPeriod): Key => [period, 'organization']

/** Prefix of the records of a subject. Its records are sorted by time. */
export const subjectPrefix = (period: RecordPeriod, subject: UsageSubject): Key =>
  subject === null
    ? [period, 'workspace']
    : [...organizationsPrefix(period), subject.organizationId, subject.apiKey]

/** Returns a key that sorts directly before the records that begin at `at`. */
export const timeKey = (period: RecordPeriod, subject: UsageSubject, at: number): Key => [
  ...subjectPrefix(period, subject),
  periodText[period](at),
]

/** @param writer unique id of the process that has counted */
export const hourKey = (subject: UsageSubject, at: number, writer: string): Key => [
  ...timeKey('hours', subject, at),
  writer,
]

export const dayKey = (subject: UsageSubject, at: number): Key => [...timeKey('days', subject, at), 'all']

/** Returns the start of the hour or day of a record, in epoch milliseconds. */
export function timeOf(period: RecordPeriod, key: Key): number {
  const text = key.at(-2) ?? ''
  return Date.parse(period === 'hours' ? `${text}:00Z` : `${text}T00:00Z`)
}

/** Returns the organization of a record; null for a record of the workspace. */
export function subjectOf(key: Key): UsageSubject {
  const [, kind, organizationId = '', apiKey = ''] = key
  return kind === 'organization' ? { organizationId, apiKey } : null
}

const isoText = (at: number): string => new Date(at).toISOString()

const periodText = {
  hours: (at: number): string => isoText(at).slice(0, '2000-01-01T00'.length),
  days: (at: number): string => isoText(at).slice(0, '2000-01-01'.length),
}
