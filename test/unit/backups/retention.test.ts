import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BackupName } from '../../../src/capabilities/backups/manifest.ts'
import { keptBackups, parseKeep } from '../../../src/capabilities/backups/prune.ts'
import type { KeepRule } from '../../../src/core/config/backup-options.ts'
import { seed } from '../../support/data/seed.ts'

const hour = 3_600_000
const start = Date.UTC(2024, 0, 1)

const named = (at: number): BackupName => ({ id: `${new Date(at).toISOString()}-x`, at })
const datesOf = (ids: Iterable<string>): readonly string[] => [...ids].map((id) => id.slice(0, 10)).toSorted()

it('[BKP-9] keeps the newest backup of each of the last days, weeks and months', () => {
  // Two backups on each day of 2024 and 2025.
  const backups = Array.from({ length: 2 * 731 }, (_, index) => named(start + index * 12 * hour))
  expect(datesOf(keptBackups(backups, parseKeep('3d,2w,4m,2y'), start + 731 * 24 * hour))).toEqual([
    '2024-12-31',
    '2025-09-30',
    '2025-10-31',
    '2025-11-30',
    // A Sunday.
    '2025-12-28',
    '2025-12-29',
    '2025-12-30',
    '2025-12-31',
  ])
  expect([...keptBackups(backups, parseKeep('1d'), start + 731 * 24 * hour)]).toEqual([
    named(Date.UTC(2025, 11, 31, 12)).id,
  ])
  expect(keptBackups([], parseKeep('1d'), start)).toEqual(new Set())
})

it('[BKP-9] rejects a rule that is not a list of numbers of days, weeks, months and years', () => {
  for (const text of ['', '7', '0d', '7d,7d', '7x', '-1d', '7d;4w', '1.5d', '10000d'])
    expect(() => parseKeep(text)).toThrow('is not a rule for keeping backups')
  expect(parseKeep('7d, 4w,12m')).toEqual({ d: 7, w: 4, m: 12, y: 0 })
})

/** Names of the periods, computed by the calendar of `Date`. */
const periodOf: Readonly<Record<keyof KeepRule, (at: number) => string>> = {
  d: (at) => new Date(at).toISOString().slice(0, 10),
  m: (at) => new Date(at).toISOString().slice(0, 7),
  y: (at) => new Date(at).toISOString().slice(0, 4),
  w: (at) => {
    const day = new Date(at)
    day.setUTCDate(day.getUTCDate() - ((day.getUTCDay() + 6) % 7))
    return day.toISOString().slice(0, 10)
  },
}

function expectKept(all: readonly BackupName[], kept: ReadonlySet<string>, rule: KeepRule): void {
  expect(kept.has(all.at(-1)?.id as string)).toBe(true)
  const counts = Object.values(rule) as number[]
  expect(kept.size).toBeLessThanOrEqual(1 + counts.reduce((sum, count) => sum + count, 0))
  for (const unit of ['d', 'w', 'm', 'y'] as const) {
    const newest = new Map(all.map(({ id, at }) => [periodOf[unit](at), id]))
    const last = [...newest.values()].slice(-rule[unit] || newest.size)
    for (const id of rule[unit] === 0 ? [] : last) expect([unit, id, kept.has(id)]).toEqual([unit, id, true])
  }
}

describe(`simulated years (seed ${seed})`, () => {
  it('[BKP-9] a prune after each backup keeps the same backups as one prune of all', () => {
    const rules = fc.record({ d: fc.nat(9), w: fc.nat(6), m: fc.nat(14), y: fc.nat(3) })
    // Mostly a backup each day at any hour, with pauses of up to three months, over up to five years.
    const gaps = fc.array(
      fc.oneof(
        { weight: 30, arbitrary: fc.integer({ min: 1, max: 48 }) },
        fc.integer({ min: 1, max: 2_200 }),
      ),
      { minLength: 1, maxLength: 700 },
    )
    const property = fc.property(rules, gaps, (rule, hours) => {
      let at = start
      const all: BackupName[] = []
      let present: readonly BackupName[] = []
      for (const each of hours) {
        at += each * hour
        all.push(named(at))
        present = [...present, named(at)]
        const kept = keptBackups(present, rule, at)
        present = present.filter(({ id }) => kept.has(id))
      }
      const kept = keptBackups(all, rule, at)
      expect(new Set(present.map(({ id }) => id))).toEqual(kept)
      expectKept(all, kept, rule)
    })
    fc.assert(property, { numRuns: 60 })
  })
})
