/** What one notification may hold, and one call may do. */
export const notificationLimits = {
  /** Users whom a notification names. Everybody (`notifyAll`) is one record, however many they are. */
  notifyUsers: 500,
  /** JSON of these. */
  notifyUsersBytes: 131_072,
  /** JSON of the template's data, and of the source data. */
  dataBytes: 16_384,
  /** Characters of a rendered headline: what a template repeats could be without end. */
  headlineLength: 4_000,
  /** Readers that are named with a notification. */
  readersShown: 100,
  /** Users who have read or removed it that are looked at for these. */
  readersScanned: 500,
  /** List entries that are looked at for one page: what is filtered out costs, too. */
  scanned: 5_000,
  /** Notifications that are read, or written, at once: each may be as large as all of the above. */
  together: 25,
  /** Stored bytes in one page, but for its first notification. */
  pageBytes: 8_388_608,
  /** Notifications that one call deletes. */
  deleted: 500,
} as const
