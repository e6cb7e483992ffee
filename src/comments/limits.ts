/** Limits of an annotation and of one call. */
export const commentLimits = {
  /** Comments that one call adds to all its annotations together. */
  commentsInCall: 500,
  /** Comments of one annotation. Further comments are rejected. */
  comments: 1_000,
  /** UTF-8 bytes of a comment's text. */
  textBytes: 16_384,
  /** Reactions to one comment. Further reactions are rejected. */
  reactions: 100,
  /** Bytes of the reactions to one comment as JSON. Further reactions are rejected. */
  reactionsBytes: 32_768,
  reactionCharacters: 64,
  /** Bytes of a location as JSON, including members that callers have added. */
  locationBytes: 4_096,
  /** Bytes of suggested content as JSON. */
  suggestionBytes: 16_384,
  priorityCharacters: 100,
  /** Characters of the root name in an anchor. */
  contentKeyCharacters: 10_000,
  /** Bytes of an encoded relative position. */
  positionBytes: 1_024,
  /** Comments in a response next to their annotation. Further comments must be listed separately. */
  commentsShown: 50,
  /** Bytes of the comments next to their annotation, as JSON. */
  shownBytes: 1_048_576,
  /**
   * List entries that are read for one page. The limit is necessary because each entry that the filter
   * excludes also costs a read.
   */
  scanned: 2_000,
  /** Bytes of a page as JSON. The first item, or the last slice of comments, may exceed this limit. */
  pageBytes: 8_388_608,
  /** Characters of a text that an activity quotes. */
  quotedCharacters: 1_000,
} as const
