/** The time that the page shows, and the length of the time of one bar. */
export const usagePeriods = [
  ['day', 'Last 24 hours'],
  ['month', 'Last 31 days'],
  ['year', 'Last 12 months'],
] as const
export type UsagePeriod = (typeof usagePeriods)[number][0]

const msPerHour = 3_600_000
const msPerDay = 24 * msPerHour
const barCounts: Readonly<Record<UsagePeriod, number>> = { day: 24, month: 31, year: 12 }
export const granularityOf = { day: 'hour', month: 'day', year: 'month' } as const satisfies Record<
  UsagePeriod,
  string
>

/** Returns the start of each bar of a period, oldest first. The last bar contains `now`. */
export function barStarts(period: UsagePeriod, now: number): readonly number[] {
  const count = barCounts[period]
  const indexes = Array.from({ length: count }, (_, index) => index - count + 1)
  if (period === 'year') {
    const time = new Date(now)
    return indexes.map((index) => Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + index, 1))
  }
  const ms = period === 'day' ? msPerHour : msPerDay
  return indexes.map((index) => now - (now % ms) + index * ms)
}

/** Returns the UTC time of an item as text: an hour, a day or a month. */
export function barLabel(period: UsagePeriod, start: number): string {
  const text = new Date(start).toISOString()
  if (period === 'year') return text.slice(0, 7)
  return period === 'month' ? text.slice(0, 10) : `${text.slice(0, 10)} ${text.slice(11, 16)}`
}
