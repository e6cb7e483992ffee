/** Limits of a notification and of one call. */
export const notificationLimits = {
  /**
   * Users that a notification lists as recipients. If all users are recipients (`notifyAll`), they need no
   * list.
   */
  notifyUsers: 500,
  /** Bytes of the listed users as JSON. */
  notifyUsersBytes: 131_072,
  /** Bytes of the template's data, and of the source data, as JSON. */
  dataBytes: 16_384,
  /**
   * Characters of a rendered headline. Without the limit, a template that repeats its data could grow without
   * bound.
   */
  headlineLength: 4_000,
  /** Readers of a notification that a response lists. */
  readersShown: 100,
  /** Users that are scanned to find the readers of a notification: users who have read or removed it. */
  readersScanned: 500,
  /**
   * List entries that are read for one page. The limit is necessary because each entry that the filter
   * excludes also costs a read.
   */
  scanned: 5_000,
  /**
   * Maximum number of notifications in one read or one commit. Each may be as large as the limits above
   * allow.
   */
  together: 25,
  /** Stored bytes of one page. The first notification of the page may exceed this limit. */
  pageBytes: 8_388_608,
  /** Notifications that one call deletes. */
  deleted: 500,
} as const
