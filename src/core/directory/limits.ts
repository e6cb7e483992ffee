/** Limits for one organization, and for one call. */
export const directoryLimits = {
  /** Maximum number of folders of an organization. */
  folders: 10_000,
  /** Maximum number of nested folders, including the outermost folder. */
  folderDepth: 32,
  /** Maximum number of records that one search call reads. */
  lookedAtBySearch: 5_000,
  /**
   * Maximum number of organizations that one search call reads. Each organization takes a read of its own.
   */
  organizationsLookedAtBySearch: 1_000,
} as const
