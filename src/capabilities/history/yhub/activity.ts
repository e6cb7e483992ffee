import type { ChangeOrigin } from '../../../core/model/change-origin.ts'
import { textsOf } from '../../../core/update/attribution/content-map.ts'

/** Adjacent changes, as y/hub lists them. Times are in epoch milliseconds. */
interface ActivityEntry {
  from: number
  to: number
  /** Ids of the users, separated by commas; null if no user is known. */
  by: string | null
  readonly customAttributions: readonly { readonly k: string; readonly v: string }[]
}

/**
 * Groups changes by time, the oldest first, until a pause of `gapMs`, and for at most `durationMs`. Changes with different
 * texts stay apart, so that later changes do not become a part of a named version.
 */
export function groupActivity(
  origins: readonly ChangeOrigin[],
  gapMs: number,
  durationMs = Number.POSITIVE_INFINITY,
  mergesUsers = false,
): readonly ActivityEntry[] {
  const entries: ActivityEntry[] = []
  let texts = ''
  for (const origin of origins.toSorted((a, b) => a.at - b.at)) {
    const { at } = origin
    const by = origin.by || null
    const own = JSON.stringify(textsOf(origin))
    const last = entries.at(-1)
    const isNear = last !== undefined && at - last.to < gapMs && at - last.from < durationMs
    if (isNear && texts === own && (mergesUsers || last.by === by)) {
      last.to = at
      if (by !== null) last.by = [...new Set([...(last.by?.split(',') ?? []), by])].join(',')
    } else {
      const customAttributions = textsOf(origin).map(([k, v]) => ({ k, v }))
      entries.push({ from: at, to: at, by, customAttributions })
    }
    texts = own
  }
  return entries
}
