import { createHeadlessEditor } from '@lexical/headless'
import {
  createBinding,
  createUndoManager,
  type Provider,
  syncLexicalUpdateToYjs,
  syncYjsChangesToLexical,
} from '@lexical/yjs'
import {
  $createTextNode,
  $getRoot,
  $isElementNode,
  $isTextNode,
  $parseSerializedNode,
  type SerializedLexicalNode,
  SKIP_COLLAB_TAG,
} from 'lexical'
import * as Y from 'yjs'
import type { Judge, Seat } from './third-party-editor.ts'

const contentKey = 'root'

const provider: Provider = {
  awareness: {
    getLocalState: () => null,
    getStates: () => new Map(),
    off: () => undefined,
    on: () => undefined,
    setLocalState: () => undefined,
    setLocalStateField: () => undefined,
  },
  connect: () => undefined,
  disconnect: () => undefined,
  off: () => undefined,
  on: () => undefined,
}

/**
 * Lexical learns the content of a document only from events. It therefore has a replica of its own, which starts
 * empty.
 */
function open(outer: Y.Doc): Seat {
  const doc = new Y.Doc()
  const editor = createHeadlessEditor({
    onError: (error) => {
      throw error
    },
  })
  const binding = createBinding(editor, provider, contentKey, doc, new Map([[contentKey, doc]]))
  const root = doc.get(contentKey, Y.XmlText)
  const undos = createUndoManager(binding, root)
  editor.registerUpdateListener(
    ({ prevEditorState, editorState, dirtyElements, dirtyLeaves, normalizedNodes, tags }) => {
      if (tags.has(SKIP_COLLAB_TAG)) return
      syncLexicalUpdateToYjs(
        binding,
        provider,
        prevEditorState,
        editorState,
        dirtyElements,
        dirtyLeaves,
        normalizedNodes,
        tags,
      )
    },
  )
  root.observeDeep((events, transaction) => {
    if (transaction.origin !== binding)
      syncYjsChangesToLexical(binding, provider, events, transaction.origin instanceof Y.UndoManager)
  })
  const leave = (update: Uint8Array, origin: unknown): void => {
    if (origin !== outer) Y.applyUpdate(outer, update, doc)
  }
  const enter = (update: Uint8Array, origin: unknown): void => {
    if (origin !== doc) Y.applyUpdate(doc, update, outer)
  }
  doc.on('update', leave)
  outer.on('update', enter)
  Y.applyUpdate(doc, Y.encodeStateAsUpdate(outer), outer)
  const act = (change: () => void): void => editor.update(change, { discrete: true })
  return {
    write: (content) =>
      act(() => {
        const nodes = (content as SerializedLexicalNode[]).map($parseSerializedNode)
        $getRoot()
          .clear()
          .append(...nodes)
      }),
    shown: () => editor.getEditorState().toJSON().root.children,
    type: (text) =>
      act(() => {
        const first = $getRoot().getFirstDescendant()
        if ($isTextNode(first)) first.spliceText(0, 0, text)
        else if ($isElementNode(first)) first.append($createTextNode(text))
      }),
    undo: () => undos.undo(),
    redo: () => undos.redo(),
    close: () => {
      outer.off('update', enter)
      doc.destroy()
    },
  }
}

type Format = 'bold' | 'italic' | 'code'
const formats: Readonly<Record<Format, number>> = { bold: 1, italic: 2, code: 16 }

const text = (value: string, ...names: Format[]): object => ({
  type: 'text',
  version: 1,
  text: value,
  format: names.reduce((sum, name) => sum + formats[name], 0),
  mode: 'normal',
  style: '',
  detail: 0,
})
const lineBreak = { type: 'linebreak', version: 1 }
const paragraph = (...children: object[]): object => ({
  type: 'paragraph',
  version: 1,
  children,
  direction: null,
  format: '',
  indent: 0,
  textFormat: 0,
  textStyle: '',
})

const article = [
  paragraph(text('A title 🎈', 'bold')),
  paragraph(
    text('plain '),
    text('bold', 'bold'),
    text(' both', 'bold', 'italic'),
    lineBreak,
    text('code() < 2', 'code'),
    text(' & more'),
  ),
  paragraph(),
  paragraph(text('said  she')),
]

const note = [paragraph(text('Another title')), paragraph(text('plain bold', 'bold'), lineBreak, text('end'))]

/** Lexical with its own nodes, under its binding. */
export const lexical: Judge = {
  type: 'xmltext',
  contentKey,
  contents: [article, note, [paragraph()]],
  parts: [...article, ...note],
  madeOf: (parts) => parts,
  edits: [
    ['title', 'name'],
    ['code', 'text'],
    ['said', 'spoken'],
  ],
  open,
}
