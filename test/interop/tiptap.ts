import { Editor, type JSONContent } from '@tiptap/core'
import { Collaboration } from '@tiptap/extension-collaboration'
import { Image } from '@tiptap/extension-image'
import { TaskItem, TaskList } from '@tiptap/extension-list'
import { Mention } from '@tiptap/extension-mention'
import { TableKit } from '@tiptap/extension-table'
import { TextStyleKit } from '@tiptap/extension-text-style'
import { StarterKit } from '@tiptap/starter-kit'
import type * as Y from 'yjs'
import { place } from './dom.ts'
import type { Judge, Seat } from './third-party-editor.ts'

function open(doc: Y.Doc): Seat {
  const editor = new Editor({
    element: place(),
    extensions: [
      StarterKit.configure({ undoRedo: false }),
      Image.configure({ inline: true }),
      TableKit,
      TaskList,
      TaskItem.configure({ nested: true }),
      TextStyleKit,
      Mention,
      Collaboration.configure({ document: doc }),
    ],
  })
  return {
    write: (content) => editor.commands.setContent(content as JSONContent),
    shown: () => editor.getJSON(),
    type: (text) => editor.commands.insertContentAt(1, text),
    undo: () => editor.commands.undo(),
    redo: () => editor.commands.redo(),
    close: () => editor.destroy(),
  }
}

const text = (value: string, ...marks: object[]): JSONContent =>
  ({ type: 'text', text: value, ...(marks.length > 0 && { marks }) }) as JSONContent
const paragraph = (...content: JSONContent[]): JSONContent => ({ type: 'paragraph', content })
const node = (type: string, attrs: object, ...content: JSONContent[]): JSONContent => ({
  type,
  attrs,
  ...(content.length > 0 && { content }),
})

const [bold, italic, code] = [{ type: 'bold' }, { type: 'italic' }, { type: 'code' }]
const link = { type: 'link', attrs: { href: 'https://example.com/?a=1&b=2', target: '_self' } }
const color = { type: 'textStyle', attrs: { color: '#ff0000', fontSize: '14px' } }

const article: JSONContent = {
  type: 'doc',
  content: [
    node('heading', { level: 1 }, text('Release '), text('notes', italic), text(' 🎉👩‍👩‍👧')),
    paragraph(
      text('Plain, '),
      text('bold', bold),
      text(' both', bold, italic),
      text(' slanted', italic),
      text(' linked', link),
      text(' and bold', link, bold),
      { type: 'hardBreak' },
      text('const a = 1 < 2', code),
      text(' red', color),
      node('mention', { id: '7', label: 'Ada', mentionSuggestionChar: '@' }),
      text(' '),
      node('image', { src: '/a.png', alt: 'A "quoted" <b>', title: null, width: 640, height: 480 }),
    ),
    { type: 'paragraph' },
    node(
      'bulletList',
      {},
      node(
        'listItem',
        {},
        paragraph(text('one')),
        node('bulletList', {}, node('listItem', {}, paragraph(text('one and a half')))),
      ),
      node(
        'listItem',
        {},
        paragraph(text('two')),
        node('orderedList', { start: 3 }, node('listItem', {}, paragraph(text('three')))),
      ),
    ),
    node(
      'taskList',
      {},
      node('taskItem', { checked: true }, paragraph(text('done'))),
      node(
        'taskItem',
        { checked: false },
        paragraph(text('open')),
        node('taskList', {}, node('taskItem', { checked: true }, paragraph())),
      ),
    ),
    node('codeBlock', { language: 'typescript' }, text('if (a < b) {\n\treturn "\\n"\n}\n')),
    node('blockquote', {}, paragraph(text('said  '), text('she', { type: 'underline' }, { type: 'strike' }))),
    { type: 'horizontalRule' },
    node(
      'table',
      {},
      node('tableRow', {}, node('tableHeader', { colspan: 2, colwidth: [120, 80] }, paragraph(text('wide')))),
      node(
        'tableRow',
        {},
        node('tableCell', { rowspan: 1, colwidth: [120] }, paragraph(text('a')), paragraph()),
        node('tableCell', {}, node('heading', { level: 3 }, text('b'))),
      ),
    ),
    { type: 'paragraph' },
  ],
}

const note: JSONContent = {
  type: 'doc',
  content: [
    node('heading', { level: 2 }, text('Release '), text('notes', bold)),
    paragraph(
      text('Plain, '),
      text('bold now too', bold),
      text(' linked', { ...link, attrs: { href: '/b' } }),
    ),
    node('bulletList', {}, node('listItem', {}, paragraph(text('one and a half')))),
    node('taskList', {}, node('taskItem', { checked: false }, paragraph(text('done')))),
    node('table', {}, node('tableRow', {}, node('tableCell', { colwidth: [60] }, paragraph(text('a'))))),
    node('orderedList', { start: 7 }, node('listItem', {}, paragraph(text('seven')))),
    { type: 'paragraph' },
  ],
}

const bare: JSONContent = { type: 'doc', content: [{ type: 'paragraph' }] }

/** Tiptap 3 with its starter kit, tables, tasks, images, mentions and text styles. */
export const tiptap: Judge = {
  type: 'xml',
  contentKey: 'default',
  contents: [article, note, bare],
  parts: [...(article.content ?? []), ...(note.content ?? [])],
  madeOf: (parts) => ({ type: 'doc', content: parts }),
  edits: [
    ['notes', 'news'],
    ['done', 'done, at last'],
    ['three', '3'],
  ],
  open,
}
