/** What one organization may hold, and one call may name. */
export const directoryLimits = {
  /** Folders of an organization. */
  folders: 10_000,
  /** Folders in each other, the outermost counted. */
  folderDepth: 32,
  /** Records that one call of a search looks at. */
  lookedAtBySearch: 5_000,
  /** The same of organizations, each of which is read by itself. */
  organizationsLookedAtBySearch: 1_000,
} as const
