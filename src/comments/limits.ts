/** What annotations may hold, and one call may do. */
export const commentLimits = {
  /** Comments that one call adds, of all its annotations together. */
  commentsInCall: 500,
  /** Comments of one annotation; further ones are refused. */
  comments: 1_000,
  /** UTF-8 of a comment's text. */
  textBytes: 16_384,
  /** Reactions of one comment; further ones are refused. */
  reactions: 100,
  /** JSON of those; what goes beyond is refused. */
  reactionsBytes: 32_768,
  reactionCharacters: 64,
  /** JSON of a location, with all members of the caller's own. */
  locationBytes: 4_096,
  /** JSON of what a suggestion suggests. */
  suggestionBytes: 16_384,
  priorityCharacters: 100,
  /** Name of the root that an anchor is in. */
  contentKeyCharacters: 10_000,
  /** Bytes of an encoded relative position. */
  positionBytes: 1_024,
  /** Comments that are shown with their annotation; further ones are listed apart. */
  commentsShown: 50,
  /** JSON of those. */
  shownBytes: 1_048_576,
  /** List entries that are looked at for one page: what is filtered out costs, too. */
  scanned: 2_000,
  /** JSON in one page, but for its first item, or for the last comments of a page of those. */
  pageBytes: 8_388_608,
  /** Characters of a text that an activity quotes. */
  quotedCharacters: 1_000,
} as const
