import { EditorState } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { yCollab } from 'y-codemirror.next'
import * as Y from 'yjs'
import { place } from './dom.ts'
import type { Judge, Seat } from './third-party-editor.ts'

const contentKey = 'content'

function open(doc: Y.Doc): Seat {
  const text = doc.getText(contentKey)
  const undoManager = new Y.UndoManager(text)
  const extensions = [yCollab(text, null, { undoManager })]
  const view = new EditorView({
    state: EditorState.create({ doc: text.toJSON(), extensions }),
    parent: place(),
  })
  const replace = (from: number, to: number, insert: string): void =>
    view.dispatch({ changes: { from, to, insert } })
  return {
    write: (content) => replace(0, view.state.doc.length, content as string),
    shown: () => view.state.doc.toString(),
    type: (typed) => replace(0, 0, typed),
    undo: () => undoManager.undo(),
    redo: () => undoManager.redo(),
    close: () => view.destroy(),
  }
}

const program = 'import a\r\n\r\nif (a < b) {\r\n\treturn "é 漢字 👩‍👩‍👧"\n}\n\n\n'
const shorter = 'import a, b\n\nif (a > b) {\n\t\treturn\n}\n// end'

/** CodeMirror 6 under y-codemirror.next. */
export const codemirror: Judge = {
  type: 'text',
  contentKey,
  contents: [program, shorter, ''],
  parts: `${program}\n${shorter}`.split('\n'),
  madeOf: (parts) => parts.join('\n'),
  edits: [
    ['import a', 'import b'],
    ['return', 'yield'],
  ],
  open,
}
