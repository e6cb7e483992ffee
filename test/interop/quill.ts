import Quill, { type Op } from 'quill'
import { QuillBinding } from 'y-quill'
import * as Y from 'yjs'
import { place } from './dom.ts'
import type { Judge, Seat } from './third-party-editor.ts'

const contentKey = 'quill'

function open(doc: Y.Doc): Seat {
  const quill = new Quill(place(), { modules: { history: false, toolbar: false } })
  const text = doc.getText(contentKey)
  const binding = new QuillBinding(text, quill)
  const undos = new Y.UndoManager(text, { trackedOrigins: new Set([binding]) })
  return {
    write: (content) => quill.setContents(content, 'user'),
    shown: () => quill.getContents().ops,
    type: (typed) => quill.insertText(0, typed, 'user'),
    undo: () => undos.undo(),
    redo: () => undos.redo(),
    close: () => binding.destroy(),
  }
}

const line = (attributes: Record<string, unknown>): Op => ({ insert: '\n', attributes })

const article: Op[] = [
  { insert: 'A title 🎈' },
  line({ header: 1 }),
  { insert: 'plain ' },
  { insert: 'bold', attributes: { bold: true } },
  { insert: ' both', attributes: { bold: true, italic: true } },
  { insert: ' red', attributes: { color: '#ff0000', background: '#ffff00', size: 'large' } },
  { insert: ' linked', attributes: { link: 'https://example.com/?a=1&b' } },
  { insert: { image: 'data:image/png;base64,AAAA' }, attributes: { width: '30', alt: 'an "image"' } },
  { insert: '\n\n' },
  { insert: 'one' },
  line({ list: 'bullet' }),
  { insert: 'in it' },
  line({ list: 'ordered', indent: 1 }),
  { insert: 'done' },
  line({ list: 'checked' }),
  { insert: 'open' },
  line({ list: 'unchecked', align: 'right' }),
  { insert: 'if (a < b)' },
  line({ 'code-block': 'plain' }),
  { insert: '\treturn' },
  line({ 'code-block': 'plain' }),
  { insert: 'said' },
  line({ blockquote: true }),
  { insert: { video: 'https://example.com/v' } },
  { insert: 'x', attributes: { script: 'super' } },
  { insert: '\n' },
]

const note: Op[] = [
  { insert: 'Another title' },
  line({ header: 2 }),
  { insert: 'plain bold', attributes: { bold: true } },
  { insert: { image: '/b.png' } },
  line({ list: 'bullet' }),
  { insert: 'open' },
  line({ list: 'checked' }),
  { insert: 'end\n' },
]

/** Quill 2 under y-quill. */
export const quill: Judge = {
  type: 'delta',
  contentKey,
  contents: [article, note, [{ insert: '\n' }]],
  parts: [...article, ...note],
  madeOf: (parts) => [...parts, { insert: '\n' }],
  edits: [
    ['title', 'name'],
    ['in it', 'inside'],
    ['said', 'spoken'],
  ],
  open,
}
