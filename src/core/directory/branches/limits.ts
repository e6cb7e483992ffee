/** Limits of the branches of one document. */
export const branchLimits = {
  /** Maximum number of branches of one document, over all its editors. Further branches are rejected. */
  branches: 10_000,
  /** Maximum length of the name of a branch in characters. */
  nameCharacters: 100,
} as const
