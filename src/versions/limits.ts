const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Limits of the versions of one editor. */
export const versionLimits = {
  /** Versions that callers have created. Further ones are rejected. */
  manual: 1_000,
  /** Automatic versions. A further version replaces the oldest one. */
  automatic: 500,
  /** Characters of a label. */
  labelCharacters: 200,
  /** Authors of one version. Further authors are left out. */
  authors: 500,
  /** Versions in one response. */
  listed: 100,
} as const

/**
 * Retention of automatic versions. If they are older than `afterMs`, the last version of each interval of
 * `everyMs` is kept; null: none is kept. Versions younger than the first row are all kept.
 */
export const autoVersionRetention: readonly { readonly afterMs: number; readonly everyMs: number | null }[] =
  [
    { afterMs: dayMs, everyMs: hourMs },
    { afterMs: 7 * dayMs, everyMs: dayMs },
    { afterMs: 90 * dayMs, everyMs: null },
  ]
