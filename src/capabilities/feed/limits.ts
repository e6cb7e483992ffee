/** Limits of the feed of an API key. */
export const feedLimits = {
  /** Maximum number of kept events. If there are more, the oldest ones are removed. */
  entries: 1_000_000,
  /** Bounds of the time for which events are kept, in seconds: one minute to 90 days. */
  keepSecondsMin: 60,
  keepSecondsMax: 7_776_000,
  /** Maximum number of events in one response. */
  page: 1_000,
  /** Number of events in one response if the request has no `pageSize`. */
  pageDefault: 100,
  /** Maximum bytes of the events in one response. A single event may have more. */
  pageBytes: 1_048_576,
  /** Maximum number of events that one call reads to find matching events, and their maximum bytes. */
  scanned: 10_000,
  scannedBytes: 4_194_304,
  /** Number of read events that count as one call. */
  scannedPerCall: 1_000,
  /** Maximum number of types, and of documents, in a filter. */
  filter: 100,
  /** Maximum time in seconds for which a call waits for events. */
  waitSeconds: 30,
  /** Maximum number of calls and streams of one API key that wait for events on one node. */
  waiting: 50,
  /**
   * Maximum bytes of updates that are read to find the size and the authors of one change. For a larger change,
   * both are unknown.
   */
  readBytes: 1_048_576,
  /** Maximum bytes of the content of one event in a response. */
  contentBytes: 1_048_576,
  /** Maximum bytes of the content of all events in a response, except the first content. */
  pageContentBytes: 1_048_576,
  /** Maximum number of authors of one change. Further authors are left out. */
  authors: 100,
  /** Maximum number of editors whose changes are repeated after the late event of a deletion of their document. */
  recreatedEditors: 1_000,
} as const
