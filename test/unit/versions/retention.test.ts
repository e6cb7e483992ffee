import { expect, it } from 'vitest'
import { versionLimits } from '../../../src/capabilities/history/limits.ts'
import {
  type VersionKind,
  type VersionRecord,
  versionIdOf,
} from '../../../src/capabilities/history/version-keys.ts'
import { expiredVersions } from '../../../src/capabilities/history/version-service.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

const recordAt = (createdAt: number, kind: VersionKind = 'automatic'): VersionRecord => ({
  versionId: versionIdOf(createdAt, kind),
  kind,
  label: '',
  metadata: {},
  createdAt,
  createdBy: '',
  sizeBytes: 1,
  version: '1.1',
  epoch: 1,
  hash: '',
  authors: [],
})

const thinned = (records: readonly VersionRecord[], now: number): VersionRecord[] => {
  const gone = new Set(expiredVersions(records, now))
  return records.filter(({ versionId }) => !gone.has(versionId))
}

/** The remaining versions of one version every half hour, with a removal each time. */
function history(days: number): { readonly kept: readonly VersionRecord[]; readonly now: number } {
  let kept: VersionRecord[] = []
  let now = 20_000 * dayMs + 7 * minuteMs
  for (const end = now + days * dayMs; now < end; now += 30 * minuteMs)
    kept = thinned([...kept, recordAt(now)], now)
  return { kept, now: now - 30 * minuteMs }
}

it('[VER-17] keeps all automatic versions of the last day, then one per hour for a week, then one per day for 90 days', () => {
  const { kept, now } = history(120)
  const between = (from: number, to: number) =>
    kept.filter(({ createdAt }) => now - createdAt >= from && now - createdAt < to)
  expect(between(0, dayMs)).toHaveLength(48)
  expect(between(dayMs + hourMs, 7 * dayMs)).toHaveLength(6 * 24 - 1)
  expect(between(8 * dayMs, 90 * dayMs)).toHaveLength(82)
  expect(between(91 * dayMs, 1_000 * dayMs)).toEqual([])
  expect(kept.length).toBeLessThan(versionLimits.automatic)
})

it('[VER-17] keeps the newest version whatever its age, and always keeps requested versions', () => {
  const records = [recordAt(1, 'manual'), recordAt(2), recordAt(3), recordAt(4, 'manual')]
  expect(thinned(records, 1_000 * dayMs).map(({ createdAt }) => createdAt)).toEqual([1, 3, 4])
})

it('[VER-17] keeps a maximum number of versions, and removes the oldest versions above it', () => {
  const records = Array.from({ length: versionLimits.automatic + 10 }, (_, at) => recordAt(at))
  expect(thinned(records, 1_000)).toEqual(records.slice(10))
})
