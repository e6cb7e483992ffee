import type * as Y from 'yjs'

/** An editor of somebody else, whose documents judge what we make of them. */
export interface Judge {
  /** The content type whose data says all that the editor shows. */
  readonly type: string
  readonly contentKey: string
  /** Contents in the editor's own terms; together they use everything that its schema has. */
  readonly contents: readonly unknown[]
  /** Parts of those contents, and the content that any of them make, in any order. */
  readonly parts: readonly unknown[]
  madeOf(parts: readonly unknown[]): unknown
  /** Words of the first content, and what a backend puts in their place: in what a person types into, and elsewhere. */
  readonly edits: readonly (readonly [word: string, instead: string])[]
  /** Opens an editor on a replica: from now on both follow each other. */
  open(doc: Y.Doc): Seat
}

/** One person's open editor. */
export interface Seat {
  /** Puts other content in place of all that is there, as the person themselves would. */
  write(content: unknown): void
  /** Everything the person sees, as plain values. */
  shown(): unknown
  /** Types at the start of the first place where text may be. */
  type(text: string): void
  undo(): void
  redo(): void
  close(): void
}

/** Judges by name. They are loaded when asked for: their libraries may not be installed. */
export const judges: Readonly<Record<string, () => Promise<Judge>>> = {
  Tiptap: async () => (await import('./tiptap.ts')).tiptap,
  ProseMirror: async () => (await import('./prosemirror.ts')).prosemirror,
  BlockNote: async () => (await import('./blocknote.ts')).blocknote,
  Quill: async () => (await import('./quill.ts')).quill,
  CodeMirror: async () => (await import('./codemirror.ts')).codemirror,
  board: async () => (await import('./board.ts')).board,
  list: async () => (await import('./board.ts')).list,
}
