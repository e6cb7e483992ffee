const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** What the versions of one editor may be. */
export const versionLimits = {
  /** Versions that callers have made, of one editor; more are refused. */
  manual: 1_000,
  /** Versions that were made in the background, of one editor; with a further one the oldest goes. */
  automatic: 500,
  /** Characters of a label. */
  labelCharacters: 200,
  /** People who are named as authors of one version; further ones are left out. */
  authors: 500,
  /** Versions in one answer. */
  listed: 100,
} as const

/**
 * Of automatic versions that are older than `afterMs`, the last one of each `everyMs` is kept. The last row is the end:
 * none is kept. The first day is kept whole.
 */
export const autoVersionRetention: readonly { readonly afterMs: number; readonly everyMs: number | null }[] =
  [
    { afterMs: dayMs, everyMs: hourMs },
    { afterMs: 7 * dayMs, everyMs: dayMs },
    { afterMs: 90 * dayMs, everyMs: null },
  ]
