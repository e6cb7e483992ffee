import type * as Y from 'yjs'

/** A third-party editor, whose documents check the content code. */
export interface Judge {
  /** The content type whose data contains everything that the editor shows. */
  readonly type: string
  readonly contentKey: string
  /** Contents in the editor's own form, which together use its whole schema. */
  readonly contents: readonly unknown[]
  /** Parts of those contents, and the content of any of them in any order. */
  readonly parts: readonly unknown[]
  madeOf(parts: readonly unknown[]): unknown
  /** Returns the content for `write` that `shown` shows; absent if both have the same form. */
  fromShown?(shown: unknown): unknown
  /**
   * Words of the first content and their replacements by a backend: in the text in which the user types, and
   * elsewhere.
   */
  readonly edits: readonly (readonly [word: string, instead: string])[]
  /** Opens an editor on a replica. Both then follow each other. */
  open(doc: Y.Doc): Seat
}

/** The open editor of one user. */
export interface Seat {
  /** Replaces all content like the user would. */
  write(content: unknown): void
  /** Everything that the user sees, as plain values. */
  shown(): unknown
  /** Types at the start of the first place for text. */
  type(text: string): void
  undo(): void
  redo(): void
  close(): void
}
