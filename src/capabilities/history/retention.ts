import { autoVersionRetention, versionLimits } from './limits.ts'
import type { VersionRecord } from './version-keys.ts'

/**
 * Returns the ids of expired automatic versions. The newest automatic version never expires. The intervals of
 * the rules start at fixed times, which do not depend on `now`. If they moved with the time, tomorrow's
 * intervals could remove a version that is kept today.
 * @param records all versions of one editor, the oldest first
 * @param now current time in epoch milliseconds
 */
export function expiredVersions(records: readonly VersionRecord[], now: number): readonly string[] {
  const automatic = records.filter(({ kind }) => kind === 'automatic').reverse()
  const [newest] = automatic
  const taken = new Set<string>()
  let kept = 0
  return automatic
    .filter((record) => {
      const stretch = stretchOf(record.createdAt, now)
      const isKept = record === newest || (stretch !== null && !taken.has(stretch))
      if (!isKept || kept === versionLimits.automatic) return true
      kept += 1
      if (stretch !== null && stretch !== unthinned) taken.add(stretch)
      return false
    })
    .map(({ versionId }) => versionId)
}

const unthinned = ''

/**
 * Returns the name of the interval to which a version belongs; one version of each interval is kept. Returns
 * '' if all versions of that age are kept, and null if no version of that age is kept.
 */
function stretchOf(at: number, now: number): string | null {
  const row = autoVersionRetention.findLast(({ afterMs }) => now - at > afterMs)
  if (row === undefined) return unthinned
  return row.everyMs === null ? null : `${row.everyMs} ${Math.floor(at / row.everyMs)}`
}
