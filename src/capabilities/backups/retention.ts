import { type KeepRule, readKeepRule } from '../../core/config/backup-options.ts'
import { type BackupName, isAhead } from './manifest.ts'
import { StorageError } from './storage/storage-error.ts'

/** Parses a rule such as `7d,4w,12m`. @throws StorageError */
export function parseKeep(text: string): KeepRule {
  const rule = readKeepRule(text)
  if (rule !== undefined) return rule
  throw new StorageError(
    `${JSON.stringify(text)} is not a rule for keeping backups; expected numbers of days, weeks, months and years, such as 7d,4w,12m`,
  )
}

const dayMs = 86_400_000

/** Names of the periods in UTC that contain a time. Weeks start on Monday. */
const periods: Readonly<Record<keyof KeepRule, (at: number) => string>> = {
  d: (at) => new Date(at).toISOString().slice(0, 10),
  // The first Monday of the epoch was on day 4.
  w: (at) => String(Math.floor((at / dayMs - 4) / 7)),
  m: (at) => new Date(at).toISOString().slice(0, 7),
  y: (at) => new Date(at).toISOString().slice(0, 4),
}

/**
 * Returns the ids of the backups to keep: the newest one, and the newest one of each of the last days, weeks,
 * months and years that have a backup. Periods without a backup do not count, so a pause deletes nothing.
 * Backups with times in the future count apart until then, so they do not displace others.
 * @param now epoch milliseconds
 */
export function keptBackups(
  backups: readonly BackupName[],
  rule: KeepRule,
  now: number,
): ReadonlySet<string> {
  const past = backups.filter((each) => !isAhead(each, now))
  const ahead = backups.filter((each) => isAhead(each, now))
  return new Set([...keptOf(past, rule), ...keptOf(ahead, rule)])
}

function keptOf(backups: readonly BackupName[], rule: KeepRule): ReadonlySet<string> {
  const newestFirst = backups.toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
  const kept = new Set(newestFirst.slice(0, 1).map(({ id }) => id))
  for (const unit of ['d', 'w', 'm', 'y'] as const) {
    const seen = new Set<string>()
    for (const { id, at } of newestFirst) {
      const period = periods[unit](at)
      if (seen.has(period)) continue
      if (seen.size === rule[unit]) break
      seen.add(period)
      kept.add(id)
    }
  }
  return kept
}
