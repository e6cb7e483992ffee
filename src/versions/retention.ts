import { autoVersionRetention, versionLimits } from './limits.ts'
import type { VersionRecord } from './version-keys.ts'

/**
 * Ids of the automatic versions that are not worth keeping any more; the newest of all is never one of them. What falls
 * into one stretch is decided by the clock and not by age, so that what is kept today is not thinned out tomorrow.
 * @param records of one editor, the oldest first; @param now epoch milliseconds
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

/** Names the time within which one version is enough; null: that none is kept of. */
function stretchOf(at: number, now: number): string | null {
  const row = autoVersionRetention.findLast(({ afterMs }) => now - at > afterMs)
  if (row === undefined) return unthinned
  return row.everyMs === null ? null : `${row.everyMs} ${Math.floor(at / row.everyMs)}`
}
