const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Limits of the versions of one editor. */
export const versionLimits = {
  /** Maximum number of versions that callers create. Further versions are rejected. */
  manual: 1_000,
  /** Maximum number of automatic versions. A further version replaces the oldest one. */
  automatic: 500,
  /** Maximum number of prunes. An open editor keeps the ids that each of them has replaced in memory. */
  prunes: 100,
  /** Maximum length of a label in characters. */
  labelCharacters: 200,
  /** Maximum number of authors of one version. Further authors are left out. */
  authors: 500,
  /** Maximum number of versions in one response. */
  listed: 100,
} as const

/**
 * Rules for how long automatic versions are kept. A rule applies to versions that are older than its
 * `afterMs`. In each interval of `everyMs`, only the last version is kept; null means that no version is
 * kept. Versions that are younger than the first rule are all kept.
 */
export const autoVersionRetention: readonly { readonly afterMs: number; readonly everyMs: number | null }[] =
  [
    { afterMs: dayMs, everyMs: hourMs },
    { afterMs: 7 * dayMs, everyMs: dayMs },
    { afterMs: 90 * dayMs, everyMs: null },
  ]
