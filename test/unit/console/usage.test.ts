import { expect, it } from 'vitest'
import { barLabel, barStarts } from '../../../src/console/usage/usage-period.ts'

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
