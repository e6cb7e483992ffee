import { blocknote } from './blocknote.ts'
import { board, list } from './board.ts'
import { codemirror } from './codemirror.ts'
import { lexical } from './lexical.ts'
import { prosemirror } from './prosemirror.ts'
import { quill } from './quill.ts'
import { slate } from './slate.ts'
import type { Judge } from './third-party-editor.ts'
import { tiptap } from './tiptap.ts'

/** Editors by name. */
export const judges: Readonly<Record<string, Judge>> = {
  Tiptap: tiptap,
  ProseMirror: prosemirror,
  BlockNote: blocknote,
  Quill: quill,
  Lexical: lexical,
  Slate: slate,
  CodeMirror: codemirror,
  board,
  list,
}
