/** Limits of an annotation and of one call. */
export const commentLimits = {
  /** Maximum number of comments that one call adds to all its annotations together. */
  commentsInCall: 500,
  /** Maximum number of comments of one annotation. Further comments are rejected. */
  comments: 1_000,
  /** Maximum number of annotations of a document that is copied with its comments. */
  copied: 1_000,
  /** Maximum size of a comment's text in UTF-8 bytes. */
  textBytes: 16_384,
  /** Maximum number of reactions to one comment. Further reactions are rejected. */
  reactions: 100,
  /** Maximum size of all reactions to one comment as JSON, in bytes. Further reactions are rejected. */
  reactionsBytes: 32_768,
  reactionCharacters: 64,
  /** Maximum size of a location as JSON, in bytes. Members that callers add are included. */
  locationBytes: 4_096,
  /** Maximum size of suggested content as JSON, in bytes. */
  suggestionBytes: 16_384,
  priorityCharacters: 100,
  /** Maximum length of the root name in an anchor, in characters. */
  contentKeyCharacters: 10_000,
  /** Maximum size of an encoded relative position in bytes. */
  positionBytes: 1_024,
  /** Maximum length of the quote of an anchor, and of the text before and after it, in characters. */
  quoteCharacters: 10_000,
  /**
   * Maximum number of comments that a response contains together with their annotation. Clients must list
   * further comments separately.
   */
  commentsShown: 50,
  /**
   * Maximum size as JSON, in bytes, of the comments that a response contains together with their annotation.
   */
  shownBytes: 1_048_576,
  /**
   * Maximum number of list entries that are read for one page. Without this limit, a page could need any
   * number of reads, because each entry that the filter excludes is also read.
   */
  scanned: 2_000,
  /**
   * Maximum size of a page as JSON, in bytes. The first item of the page, or the last comments, may exceed
   * this limit.
   */
  pageBytes: 8_388_608,
  /** Maximum number of characters that an activity quotes from a text. */
  quotedCharacters: 1_000,
} as const
