import * as s from '../../core/base/schema.ts'
import { type ListPage, type PageRange, readPagePosition } from '../../core/directory/store/list-page.ts'
import type { Key, Kv } from '../../core/store/engine.ts'
import { encodeKey } from '../../core/store/key-encoding.ts'
import { entryPages } from '../../core/store/pages.ts'
import { readRecord } from '../../core/store/stored-record.ts'
import {
  type MeasuredBytes,
  msPerDay,
  msPerHour,
  organizationsPrefix,
  type RecordPeriod,
  subjectOf,
  subjectPrefix,
  timeKey,
  timeOf,
  type UsageRecord,
  type UsageSubject,
  usagePart,
  usageRecordType,
} from './usage-records.ts'

/** The sum of the records of one hour, day or month. Times are in epoch milliseconds. */
export class UsageBucket implements Omit<UsageRecord, 'node' | 'stored'> {
  readonly start: number
  opened = 0
  peak = 0
  openMs = 0
  updates = 0
  bytesSent = 0
  calls = 0
  /** The last measurement of the stored bytes; null if there is none. */
  stored: MeasuredBytes | null = null
  /** Peaks of the nodes in the hour that begins at `#peaksAt`. */
  readonly #peaks = new Map<string, number>()
  #peaksAt = 0

  constructor(start: number) {
    this.start = start
  }

  /**
   * Adds a record. The records of one hour must follow each other. The peaks of several nodes in one hour add
   * up. If a node had several processes, the largest peak counts.
   */
  add(period: RecordPeriod, at: number, record: UsageRecord): void {
    this.opened += record.opened
    this.openMs += record.openMs
    this.updates += record.updates
    this.bytesSent += record.bytesSent
    this.calls += record.calls
    this.peak = Math.max(this.peak, period === 'days' ? record.peak : this.#peakOf(at, record))
    const { stored } = record
    if (stored !== undefined && (this.stored?.at ?? 0) <= stored.at) this.stored = stored
  }

  #peakOf(at: number, { node, peak }: UsageRecord): number {
    if (at !== this.#peaksAt) this.#peaks.clear()
    this.#peaksAt = at
    this.#peaks.set(node, Math.max(peak, this.#peaks.get(node) ?? 0))
    return [...this.#peaks.values()].reduce((sum, each) => sum + each, 0)
  }
}

export const granularities = ['hour', 'day', 'month'] as const
export type Granularity = (typeof granularities)[number]

export interface UsageQuery {
  readonly granularity: Granularity
  /** Times in epoch milliseconds. Matches the hours, days or months that overlap `from` (included) to `to` (excluded). */
  readonly from: number
  readonly to: number
  /** `workspace`: the usage of the workspace. `organization`: the usage of each organization. */
  readonly by: 'workspace' | 'organization'
  /** Only the organizations with this id, of any API key. Requires `by: 'organization'`. */
  readonly organizationId?: string
}

/** The usage of a subject in one hour, day or month. */
export interface UsageItem {
  readonly subject: UsageSubject
  readonly bucket: UsageBucket
}

/** Number of records that are read at a time. */
const sliceSize = 500
/**
 * Maximum number of records that are read for one page. A page ends when the number is reached, even if it is
 * not full, but not before its first item.
 */
const recordsMax = 20_000
/** Number of records that a search for the next organization counts as. */
const searchCost = 20
/** A key segment that sorts after all others. */
const afterAll = '\u{10ffff}'

interface Budget {
  records: number
}

/** Position of a listing: the next bucket, and its organization. */
const positionSchema = s.object({
  start: s.number,
  subject: s.orNull(s.object({ apiKey: s.string, organizationId: s.string })),
})

export class UsageReader {
  readonly #kv: Pick<Kv, 'scan'>

  constructor(kv: Pick<Kv, 'scan'>) {
    this.#kv = kv
  }

  /**
   * Returns the usage by time, for each organization in turn. Hours, days and months without usage are left
   * out. A page may have fewer than `limit` items, or none, although more pages follow.
   * @throws MalformedJsonError if a record is damaged
   */
  async list(
    workspaceId: string,
    query: UsageQuery,
    { after, limit }: PageRange,
  ): Promise<ListPage<UsageItem>> {
    const part = usagePart(workspaceId)
    const position = after === undefined ? null : readPagePosition(positionSchema, after)
    const items: UsageItem[] = []
    const budget: Budget = { records: recordsMax }
    let subject = position?.subject ?? (await this.#first(part, query))
    let from = position?.start ?? query.from
    while (subject !== undefined) {
      const left = limit - items.length
      const { buckets, next } = await this.#buckets(part, subject, { ...query, from }, left, budget)
      for (const bucket of buckets) items.push({ subject, bucket })
      if (next !== null) return { items, next: positionAt(next, subject) }
      const following: UsageSubject | undefined =
        subject === null ? undefined : await this.#organizationAfter(part, subject, query)
      budget.records -= searchCost
      if (following !== undefined && (items.length === limit || budget.records <= 0))
        return { items, next: positionAt(query.from, following) }
      subject = following
      from = query.from
    }
    return { items, next: null }
  }

  /** Returns the workspace (null), then all organizations that have records. */
  async *subjects(workspaceId: string): AsyncGenerator<UsageSubject, void> {
    const part = usagePart(workspaceId)
    yield null
    let subject: UsageSubject | undefined = null
    while (subject !== undefined) {
      subject = await this.#organizationAfter(part, subject, {})
      if (subject !== undefined) yield subject
    }
  }

  /** Returns the first subject of a listing; undefined if there is none. */
  async #first(part: Key, query: UsageQuery): Promise<UsageSubject | undefined> {
    return query.by === 'workspace' ? null : this.#organizationAfter(part, null, query)
  }

  /** Returns the organization that follows a subject; undefined after the last one. */
  async #organizationAfter(
    part: Key,
    subject: UsageSubject,
    { organizationId }: Partial<UsageQuery>,
  ): Promise<UsageSubject | undefined> {
    const found = await Promise.all(
      (['hours', 'days'] as const).map(async (period) => {
        const all = organizationsPrefix(period)
        const prefix = organizationId === undefined ? all : [...all, organizationId]
        const after = subject === null ? {} : { after: [...subjectPrefix(period, subject), afterAll] }
        const [entry] = await this.#kv.scan(part, { prefix, limit: 1, ...after })
        return entry === undefined ? [] : [entry.key.slice(1)]
      }),
    )
    const [first] = found.flat().toSorted(compareKeys)
    return first && subjectOf(['hours', ...first])
  }

  /** Returns up to `limit` buckets, and the start of the next one; null if there is none. */
  async #buckets(
    part: Key,
    subject: UsageSubject,
    { granularity, from, to }: UsageQuery,
    limit: number,
    budget: Budget,
  ): Promise<{ readonly buckets: readonly UsageBucket[]; readonly next: number | null }> {
    const buckets: UsageBucket[] = []
    let bucket: UsageBucket | null = null
    const range = { from: startOf(granularity, from), to: endOf(granularity, to) }
    for await (const { at, period, record } of this.#records(part, subject, range, granularity)) {
      const start = startOf(granularity, at)
      if (bucket?.start !== start) {
        if (buckets.length === limit || (buckets.length > 0 && budget.records <= 0))
          return { buckets, next: start }
        bucket = new UsageBucket(start)
        buckets.push(bucket)
      }
      bucket.add(period, at, record)
      budget.records -= 1
    }
    return { buckets, next: null }
  }

  /** Reads records by time. A listing by hour has no records of days. */
  async *#records(
    part: Key,
    subject: UsageSubject,
    range: { readonly from: number; readonly to: number },
    granularity: Granularity,
  ): AsyncGenerator<StoredUsage> {
    const hours = storedUsage(this.#kv, part, 'hours', subject, range)
    const noDays = { from: range.from, to: range.from }
    const days = storedUsage(this.#kv, part, 'days', subject, granularity === 'hour' ? noDays : range)
    let [day, hour] = [await days.next(), await hours.next()]
    while (day.done !== true || hour.done !== true) {
      if (hour.done === true || (day.done !== true && day.value.at <= hour.value.at)) {
        if (day.done !== true) yield day.value
        day = await days.next()
      } else {
        yield hour.value
        hour = await hours.next()
      }
    }
  }
}

/** A stored record and the start of its hour or day, in epoch milliseconds. */
interface StoredUsage {
  readonly key: Key
  readonly at: number
  readonly period: RecordPeriod
  readonly record: UsageRecord
}

/** Reads the records of a subject that begin in a range of time, in order. */
export async function* storedUsage(
  kv: Pick<Kv, 'scan'>,
  part: Key,
  period: RecordPeriod,
  subject: UsageSubject,
  { from, to }: { readonly from: number; readonly to: number },
): AsyncGenerator<StoredUsage, void> {
  if (from >= to) return
  const prefix = subjectPrefix(period, subject)
  const range = { prefix, after: timeKey(period, subject, from), limit: sliceSize }
  for await (const page of entryPages((slice) => kv.scan(part, slice), range))
    for (const entry of page) {
      const at = timeOf(period, entry.key)
      if (at >= to) return
      yield { key: entry.key, at, period, record: readRecord(usageRecordType, entry) }
    }
}

const positionAt = (start: number, subject: UsageSubject): string => JSON.stringify({ start, subject })

/** Compares keys in the order of the store. */
const compareKeys = (a: Key, b: Key): number => Buffer.compare(encodeKey(a), encodeKey(b))

/** Returns the start of the hour, day or month that contains a time. */
export function startOf(granularity: Granularity, at: number): number {
  if (granularity === 'hour') return at - (at % msPerHour)
  if (granularity === 'day') return at - (at % msPerDay)
  const time = new Date(at)
  return Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), 1)
}

/** Returns `to`, rounded up to the end of an hour, day or month. */
function endOf(granularity: Granularity, to: number): number {
  const start = startOf(granularity, to)
  if (start === to) return to
  if (granularity === 'hour') return start + msPerHour
  if (granularity === 'day') return start + msPerDay
  const time = new Date(start)
  return Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1, 1)
}
