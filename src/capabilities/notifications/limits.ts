/** Limits of a notification and of one call. */
export const notificationLimits = {
  /**
   * Maximum number of users that a notification lists as recipients. If all users are recipients
   * (`notifyAll`), the notification need not list them.
   */
  notifyUsers: 500,
  /** Maximum size of the listed users as JSON, in bytes. */
  notifyUsersBytes: 131_072,
  /**
   * Maximum size as JSON, in bytes. The limit applies to the data of the template and to the source data
   * separately.
   */
  dataBytes: 16_384,
  /**
   * Maximum length of a rendered headline in characters. Without this limit, a template that repeats its data
   * could produce a text of any length.
   */
  headlineLength: 4_000,
  /** Maximum number of readers that a response lists for a notification. */
  readersShown: 100,
  /**
   * Maximum number of users that are scanned to find the readers of a notification. The scanned users have
   * read the notification or removed it.
   */
  readersScanned: 500,
  /**
   * Maximum number of list entries that are read for one page. Without this limit, a page could need any
   * number of reads, because each entry that the filter excludes is also read.
   */
  scanned: 5_000,
  /**
   * Maximum number of notifications in one read or one commit. Each notification may be as large as the
   * limits above allow.
   */
  together: 25,
  /**
   * Maximum size of the stored notifications of one page in bytes. The first notification of the page may
   * exceed this limit.
   */
  pageBytes: 8_388_608,
  /** Maximum number of notifications that one call deletes. */
  deleted: 500,
} as const
