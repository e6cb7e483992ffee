/** Limits of one organization and of one call. */
export const directoryLimits = {
  /** Folders of an organization. */
  folders: 10_000,
  /** Nested folders, including the outermost. */
  folderDepth: 32,
  /** Records that one search call reads. */
  lookedAtBySearch: 5_000,
  /** Organizations that one search call reads, each with its own read. */
  organizationsLookedAtBySearch: 1_000,
} as const
