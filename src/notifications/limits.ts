/** Limits of a notification and of one call. */
export const notificationLimits = {
  /** Users that a notification names. All users (`notifyAll`) need one record only. */
  notifyUsers: 500,
  /** Bytes of the named users as JSON. */
  notifyUsersBytes: 131_072,
  /** Bytes of the template's data, and of the source data, as JSON. */
  dataBytes: 16_384,
  /** Characters of a rendered headline. A template that repeats its data could otherwise grow without limit. */
  headlineLength: 4_000,
  /** Readers that a response names with a notification. */
  readersShown: 100,
  /** Users who have read or removed a notification that are scanned to find its readers. */
  readersScanned: 500,
  /** List entries that are read for one page, because entries that the filter excludes also cost a read. */
  scanned: 5_000,
  /** Notifications that are read or written at once. Each may be as large as the limits above allow. */
  together: 25,
  /** Stored bytes of one page. Its first notification may exceed it. */
  pageBytes: 8_388_608,
  /** Notifications that one call deletes. */
  deleted: 500,
} as const
