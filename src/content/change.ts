/** What a replacement did to a document. */
export interface Change {
  /** False: nothing was written, no transaction took place. */
  readonly changed: boolean
  /** What was inserted: for text, UTF-16 units. */
  readonly insertions: number
  /** What was deleted: for text, UTF-16 units and embeds. */
  readonly deletions: number
}

export const unchanged: Change = { changed: false, insertions: 0, deletions: 0 }
