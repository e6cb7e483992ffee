import { expect, it } from 'vitest'
import { barLabel, barStarts, toUsageCsv } from '../../../src/console/usage/usage-period.ts'

const now = Date.UTC(2026, 0, 31, 13, 20)

it('[CON-90] shows the last 24 hours, 31 days or 12 months, with the current one last', () => {
  const labels = (['day', 'month', 'year'] as const).map((period) =>
    barStarts(period, now).map((start) => barLabel(period, start)),
  )
  expect(labels.map(({ length }) => length)).toEqual([24, 31, 12])
  expect(labels.map((each) => [each[0], each.at(-1)])).toEqual([
    ['2026-01-30 14:00', '2026-01-31 13:00'],
    ['2026-01-01', '2026-01-31'],
    ['2025-02', '2026-01'],
  ])
})

it('[CON-90] writes usage as CSV, whatever the ids contain', () => {
  const counts = {
    start: Date.UTC(2026, 0, 31, 13),
    connectionsOpened: 1,
    connectionsPeak: 2,
    connectionMinutes: 0.5,
    updates: 3,
    bytesSent: 4,
    calls: 5,
  }
  const csv = toUsageCsv([
    { ...counts, bytesStored: 6 },
    { ...counts, apiKey: 'k', organizationId: 'a "b",\nc' },
  ])
  expect(csv).toBe(
    'start,apiKey,organizationId,connectionsOpened,connectionsPeak,connectionMinutes,updates,bytesSent,calls,bytesStored\r\n' +
      '2026-01-31T13:00:00.000Z,,,1,2,0.5,3,4,5,6\r\n' +
      '2026-01-31T13:00:00.000Z,k,"a ""b"",\nc",1,2,0.5,3,4,5,\r\n',
  )
})
