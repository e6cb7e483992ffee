/** What the memory of decisions holds, and how much of a text it looks at. */
export const memoryLimits = {
  /** Judgments of one API key; with a further one, those judged longest ago are forgotten. */
  judgments: 100_000,
  /** Characters of queries and reasons of one API key; beyond them the same. */
  characters: 20_000_000,
  /** Characters that say what was, or is to be, judged. */
  queryCharacters: 4_000,
  reasonCharacters: 1_000,
  /** Different words of a text that precedents are looked for with; further ones are left out. */
  queryTerms: 64,
  /** Judgments that contain them, summed over these words; of more, the most common words are left out, and where one is left, the oldest. */
  matches: 8_000,
  /** Characters of a word; longer ones are the same when they begin with the same so many. */
  termCharacters: 64,
  /** Judgments that one call deletes. */
  batch: 500,
  /** Judgments that one listing answers. */
  listed: 100,
  /** Last changes that are kept of an API key; an index that is further behind is built anew. */
  changes: 1_000,
  /** What all indexes in memory take, in characters of about 2 bytes; beyond that, those not used for longest go, but for the one in use. */
  indexedCharacters: 200_000_000,
} as const
