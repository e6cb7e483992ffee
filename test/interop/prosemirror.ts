import { type MarkSpec, type Node, type NodeSpec, Schema } from 'prosemirror-model'
import { marks, nodes } from 'prosemirror-schema-basic'
import { bulletList, listItem, orderedList } from 'prosemirror-schema-list'
import { EditorState } from 'prosemirror-state'
import { tableNodes } from 'prosemirror-tables'
import { EditorView } from 'prosemirror-view'
import { initProseMirrorDoc, redo, undo, ySyncPlugin, yUndoPlugin } from 'y-prosemirror'
import type * as Y from 'yjs'
import { place } from './dom.ts'
import type { Judge, Seat } from './third-party-editor.ts'

const contentKey = 'prosemirror'

/** May overlap itself, like comments. */
const comment: MarkSpec = {
  attrs: { id: {}, orphan: { default: false } },
  excludes: '',
  toDOM: () => ['span', 0],
}

const lists: Record<string, NodeSpec> = {
  ordered_list: { ...orderedList, content: 'list_item+', group: 'block' },
  bullet_list: { ...bulletList, content: 'list_item+', group: 'block' },
  list_item: { ...listItem, content: 'paragraph block*' },
}

export const proseMirrorSchema = new Schema({
  nodes: {
    ...nodes,
    ...lists,
    ...tableNodes({ tableGroup: 'block', cellContent: 'block+', cellAttributes: {} }),
  },
  marks: { ...marks, comment },
})

function open(doc: Y.Doc): Seat {
  const fragment = doc.getXmlFragment(contentKey)
  const { doc: first, mapping } = initProseMirrorDoc(fragment, proseMirrorSchema)
  const plugins = [ySyncPlugin(fragment, { mapping }), yUndoPlugin()]
  const view = new EditorView(place(), {
    state: EditorState.create({ doc: first, schema: proseMirrorSchema, plugins }),
  })
  const write = (content: unknown): void => {
    const { tr } = view.state
    view.dispatch(tr.replaceWith(0, tr.doc.content.size, (content as Node).content))
  }
  return {
    write,
    shown: () => view.state.doc.toJSON() as unknown,
    type: (text) => view.dispatch(view.state.tr.insertText(text, 1)),
    undo: () => undo(view.state),
    redo: () => redo(view.state),
    close: () => view.destroy(),
  }
}

const text = (value: string, ...names: (string | [string, object])[]): Node =>
  proseMirrorSchema.text(
    value,
    names.map((name) =>
      typeof name === 'string' ? proseMirrorSchema.mark(name) : proseMirrorSchema.mark(...name),
    ),
  )
const node = (type: string, attributes: object, ...content: Node[]): Node =>
  proseMirrorSchema.node(type, { ...attributes }, content)

const article = node(
  'doc',
  {},
  node('heading', { level: 2 }, text('A '), text('headline', 'em'), text(' 漢字 🇩🇪')),
  node(
    'paragraph',
    {},
    text('one', 'strong'),
    text(' two', 'strong', 'em'),
    text(' three', ['link', { href: '/c?d=1&e', title: '"t"' }]),
    node('hard_break', {}),
    text('x', ['comment', { id: 'c1' }]),
    text('y', ['comment', { id: 'c1' }], ['comment', { id: 'c2', orphan: true }]),
    text(' & '),
    node('image', { src: 'i.png', alt: null, title: 'i' }),
  ),
  node('paragraph', {}),
  node(
    'ordered_list',
    { order: 4 },
    node(
      'list_item',
      {},
      node('paragraph', {}, text('four')),
      node('bullet_list', {}, node('list_item', {}, node('paragraph', {}))),
    ),
  ),
  node('code_block', {}, text('\tint i;\n\n  return "i"; // ]]>\n')),
  node('blockquote', {}, node('paragraph', {}, text(' quoted ', 'code'))),
  node('horizontal_rule', {}),
  node(
    'table',
    {},
    node(
      'table_row',
      {},
      node('table_header', { colspan: 2, colwidth: [10, 20] }, node('paragraph', {}, text('h'))),
    ),
    node(
      'table_row',
      {},
      node('table_cell', { rowspan: 1 }, node('paragraph', {})),
      node('table_cell', {}, node('paragraph', {}, text('c'))),
    ),
  ),
)

const note = node(
  'doc',
  {},
  node('heading', { level: 3 }, text('A title')),
  node('paragraph', {}, text('one '), text('two', 'em'), text('y', ['comment', { id: 'c3' }])),
  node('ordered_list', { order: 2 }, node('list_item', {}, node('paragraph', {}, text('four')))),
  node(
    'table',
    {},
    node('table_row', {}, node('table_cell', { colwidth: [33] }, node('paragraph', {}, text('c')))),
  ),
)

const bare = node('doc', {}, node('paragraph', {}))

/** ProseMirror's basic schema with lists, tables and comments, under y-prosemirror. */
export const prosemirror: Judge = {
  type: 'xml',
  contentKey,
  contents: [article, note, bare],
  parts: [...article.children, ...note.children],
  // The binding fails when a selected node at the very start is removed, so there is always a place for the
  // cursor.
  madeOf: (parts) => node('doc', {}, node('paragraph', {}), ...(parts as Node[])),
  fromShown: (shown) => proseMirrorSchema.nodeFromJSON(shown),
  edits: [
    ['headline', 'name'],
    ['two', '2'],
    ['four', 'vier'],
  ],
  open,
}
