/** Limits of stored decisions and of searches. */
export const memoryLimits = {
  /** Judgments of one API key. A further judgment replaces the one with the oldest `judgedAt`. */
  judgments: 100_000,
  /**
   * Characters of the judged texts and reasons of one API key. Beyond this limit, the judgments with the
   * oldest `judgedAt` are deleted.
   */
  characters: 20_000_000,
  /** Characters of a text to judge. */
  queryCharacters: 4_000,
  reasonCharacters: 1_000,
  /** Distinct words of a text that a search uses. Further words are ignored. */
  queryTerms: 64,
  /**
   * Matches of a search, summed over its words. Above this limit, the most common words are ignored. If only
   * one word remains, only the newest judgments with this word count.
   */
  matches: 8_000,
  /** Characters of a word. Longer words with the same beginning count as equal. */
  termCharacters: 64,
  /** Judgments that one call deletes. */
  batch: 500,
  /** Judgments of one listing. */
  listed: 100,
  /** Stored changes of an API key. An index that lacks more changes is built again. */
  changes: 1_000,
  /**
   * Memory of all cached indexes, in characters of about 2 bytes. Above this limit, the least recently used
   * indexes are evicted, except for the one in use.
   */
  indexedCharacters: 200_000_000,
} as const
