import { withYHistory, withYjs, YjsEditor } from '@slate-yjs/core'
import { createEditor, type Descendant, Editor, Node, Text, Transforms } from 'slate'
import * as Y from 'yjs'
import type { Judge, Seat } from './third-party-editor.ts'

const contentKey = 'slate'

const typeOf = (node: unknown): unknown => (node as { readonly type?: unknown }).type

/** A text whose characters a remote change has deleted keeps its marks until the document is opened again. */
function withoutInvisibleMarks(node: Node): object {
  if (Text.isText(node)) return node.text === '' ? { text: '' } : node
  return { ...node, children: node.children.map(withoutInvisibleMarks) }
}

function open(doc: Y.Doc): Seat {
  const root = doc.get(contentKey, Y.XmlText)
  const base = createEditor()
  const { isInline, isVoid } = base
  base.isInline = (element) => typeOf(element) === 'link' || isInline(element)
  base.isVoid = (element) => typeOf(element) === 'image' || isVoid(element)
  const editor = withYHistory(withYjs(base, root))
  YjsEditor.connect(editor)
  return {
    write: (content) =>
      Editor.withoutNormalizing(editor, () => {
        for (let index = editor.children.length - 1; index >= 0; index--)
          Transforms.removeNodes(editor, { at: [index] })
        Transforms.insertNodes(editor, structuredClone(content) as Descendant[], { at: [0] })
      }),
    shown: () => editor.children.map(withoutInvisibleMarks),
    type: (text) => {
      const [first] = Node.texts(editor)
      if (first !== undefined) Transforms.insertText(editor, text, { at: { path: first[1], offset: 0 } })
    },
    undo: () => editor.undo(),
    redo: () => editor.redo(),
    close: () => YjsEditor.disconnect(editor),
  }
}

const heading = (level: number, ...children: object[]): object => ({ type: 'heading', level, children })
const paragraph = (...children: object[]): object => ({ type: 'paragraph', children })
const link = { type: 'link', url: '/x?a=1&b=2', children: [{ text: 'link' }] }

const article = [
  heading(1, { text: 'A title 🎈' }),
  paragraph(
    { text: 'plain ' },
    { text: 'bold', bold: true },
    { text: ' both', bold: true, italic: true },
    { text: ' ' },
    link,
    { text: ' red', color: 'red' },
    { text: ' < end\n' },
  ),
  paragraph({ text: '' }),
  {
    type: 'list',
    children: [
      { type: 'item', children: [{ text: 'one' }] },
      { type: 'item', children: [{ text: 'in it' }] },
    ],
  },
  { type: 'image', src: 'x', size: { w: 1, h: null }, children: [{ text: '' }] },
  { type: 'quote', children: [{ text: 'said' }] },
]

const note = [
  heading(2, { text: 'Another title' }),
  paragraph({ text: 'plain bold', bold: true }),
  { type: 'list', children: [{ type: 'item', children: [{ text: 'open' }] }] },
]

/** Slate under slate-yjs. */
export const slate: Judge = {
  type: 'xmltext',
  contentKey,
  contents: [article, note, [paragraph({ text: '' })]],
  parts: [...article, ...note],
  madeOf: (parts) => parts,
  edits: [
    ['title', 'name'],
    ['in it', 'inside'],
    ['said', 'spoken'],
  ],
  open,
}
