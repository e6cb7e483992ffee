/** Limits of stored decisions and of searches. */
export const memoryLimits = {
  /**
   * Maximum number of judgments of one API key. A further judgment replaces the judgment with the oldest
   * `judgedAt`.
   */
  judgments: 100_000,
  /**
   * Maximum total of the characters in the judged texts and reasons of one API key. Above this limit, the
   * judgments with the oldest `judgedAt` are deleted.
   */
  characters: 20_000_000,
  /** Maximum length of a judged text, in characters. The next two limits are also in characters. */
  queryCharacters: 4_000,
  /** Maximum length of the description of a case for which a decision is suggested. */
  caseCharacters: 20_000,
  reasonCharacters: 1_000,
  /** Maximum number of distinct words that a search uses from its text. Further words are ignored. */
  queryTerms: 64,
  /**
   * Maximum number of matches of a search, summed over its words. Above this limit, the most common words are
   * ignored. If only one word remains, only the newest judgments with this word count.
   */
  matches: 8_000,
  /**
   * Maximum length of a word in characters. Longer words count as equal if these first characters are equal.
   */
  termCharacters: 64,
  /** Maximum number of judgments that one call deletes. */
  batch: 500,
  /** Maximum number of judgments in one listing. */
  listed: 100,
  /**
   * Maximum number of stored changes of an API key. If an index lacks more changes than this, it is built
   * again.
   */
  changes: 1_000,
  /**
   * Maximum memory of all cached indexes, in characters of about 2 bytes. Above this limit, the least
   * recently used indexes are evicted. The index in use is never evicted.
   */
  indexedCharacters: 200_000_000,
} as const
