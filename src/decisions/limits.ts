/** Limits of stored decisions and of searches. */
export const memoryLimits = {
  /** Judgments of one API key. A further one replaces the one with the oldest `judgedAt`. */
  judgments: 100_000,
  /** Characters of the judged texts and reasons of one API key, with the same effect. */
  characters: 20_000_000,
  /** Characters of a text to judge. */
  queryCharacters: 4_000,
  reasonCharacters: 1_000,
  /** Distinct words of a text that a search uses; further ones are ignored. */
  queryTerms: 64,
  /**
   * Matches of a search, summed over its words. Above it, the most common words are ignored. If one word remains, only
   * the newest judgments with it count.
   */
  matches: 8_000,
  /** Characters of a word. Longer words with the same beginning count as equal. */
  termCharacters: 64,
  /** Judgments that one call deletes. */
  batch: 500,
  /** Judgments of one listing. */
  listed: 100,
  /** Stored changes of an API key. An index that is further behind is built again. */
  changes: 1_000,
  /**
   * Memory of all cached indexes, in characters of about 2 bytes. Above it, the least recently used ones are evicted,
   * except for the one in use.
   */
  indexedCharacters: 200_000_000,
} as const
