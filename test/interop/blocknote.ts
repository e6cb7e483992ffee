import { BlockNoteEditor, type PartialBlock } from '@blocknote/core'
import { withCollaboration, yDocToBlocks } from '@blocknote/core/yjs'
import type * as Y from 'yjs'
import { place } from './dom.ts'
import type { Judge, Seat } from './third-party-editor.ts'

const contentKey = 'document-store'

function open(doc: Y.Doc): Seat {
  const fragment = doc.getXmlFragment(contentKey)
  const user = { name: 'Ada', color: '#ff0000' }
  const editor = BlockNoteEditor.create(
    withCollaboration({ animations: false, collaboration: { fragment, user } }),
  )
  editor.mount(place())
  const type = (text: string): void => {
    editor.setTextCursorPosition(editor.document[0] ?? '', 'start')
    editor.insertInlineContent(text)
  }
  return {
    write: (content) => editor.replaceBlocks(editor.document, content as PartialBlock[]),
    shown: () => editor.document,
    type,
    undo: () => editor.undo(),
    redo: () => editor.redo(),
    close: () => editor.unmount(),
  }
}

const article: PartialBlock[] = [
  { id: 'h', type: 'heading', props: { level: 2, textAlignment: 'center' }, content: 'Plan 🚀' },
  {
    id: 'p',
    type: 'paragraph',
    props: { backgroundColor: 'yellow' },
    content: [
      'plain ',
      { type: 'text', text: 'bold', styles: { bold: true } },
      { type: 'text', text: ' both', styles: { bold: true, italic: true, textColor: 'red' } },
      { type: 'text', text: ' struck', styles: { strike: true, underline: true, backgroundColor: 'blue' } },
      {
        type: 'link',
        href: 'https://example.com/?a=1&b',
        content: [{ type: 'text', text: 'link', styles: { bold: true } }],
      },
      { type: 'text', text: '\nnext line', styles: {} },
      { type: 'text', text: 'code()', styles: { code: true } },
    ],
    children: [
      {
        id: 'b1',
        type: 'bulletListItem',
        content: 'one',
        children: [{ id: 'b2', type: 'bulletListItem', content: '' }],
      },
      { id: 'n1', type: 'numberedListItem', props: { start: 5 }, content: 'five' },
    ],
  },
  { id: 'e', type: 'paragraph' },
  { id: 'c1', type: 'checkListItem', props: { checked: true }, content: 'done' },
  { id: 'c2', type: 'checkListItem', props: { checked: false }, content: 'open' },
  {
    id: 't',
    type: 'toggleListItem',
    content: 'more',
    children: [{ id: 't1', type: 'quote', content: 'hidden' }],
  },
  { id: 'th', type: 'heading', props: { level: 3, isToggleable: true }, content: 'Folded' },
  {
    id: 'i',
    type: 'image',
    props: { url: '/i.png', caption: 'an "image"', previewWidth: 320, showPreview: false },
  },
  { id: 'k', type: 'codeBlock', props: { language: 'typescript' }, content: 'if (a < b) {\n\treturn\n}' },
  { id: 'd', type: 'divider' },
  {
    id: 'tb',
    type: 'table',
    content: {
      type: 'tableContent',
      columnWidths: [120, undefined],
      headerRows: 1,
      rows: [
        { cells: [{ type: 'tableCell', content: ['wide'], props: { colspan: 2, backgroundColor: 'red' } }] },
        {
          cells: [
            { type: 'tableCell', content: ['a'] },
            { type: 'tableCell', content: [{ type: 'text', text: 'b', styles: { bold: true } }] },
          ],
        },
      ],
    },
  },
]

const note: PartialBlock[] = [
  { id: 'h', type: 'heading', props: { level: 1 }, content: 'Plan B' },
  { id: 'c1', type: 'checkListItem', props: { checked: false }, content: 'done' },
  { id: 'c3', type: 'checkListItem', props: { checked: true }, content: 'new' },
  { id: 'p', type: 'paragraph', content: [{ type: 'text', text: 'bold', styles: { textColor: 'green' } }] },
  { id: 'n2', type: 'numberedListItem', props: { start: 2 }, content: 'two' },
  { id: 'i', type: 'image', props: { url: '/j.png', previewWidth: 100 } },
  {
    id: 'tb',
    type: 'table',
    content: { type: 'tableContent', columnWidths: [80], rows: [{ cells: ['a'] }] },
  },
]

const bare: PartialBlock[] = [{ id: 'only', type: 'paragraph' }]

/** BlockNote with its own blocks. */
export const blocknote: Judge = {
  type: 'xml',
  contentKey,
  contents: [article, note, bare],
  parts: [...article, ...note],
  madeOf: (parts) => [...new Map((parts as PartialBlock[]).map((part) => [part.id, part])).values()],
  edits: [
    ['Plan', 'Long plan'],
    ['five', '5'],
    ['wide', 'very wide'],
  ],
  open,
}

/** The parsers and the writers of BlockNote, and its content of a stored document. */
export const blocknoteText = {
  ofMarkdown: (text: string): unknown => withoutIds(BlockNoteEditor.create().tryParseMarkdownToBlocks(text)),
  ofHtml: (text: string): unknown => withoutIds(BlockNoteEditor.create().tryParseHTMLToBlocks(text)),
  /** Returns the blocks of a document, and their Markdown and HTML. */
  of(doc: Y.Doc): { blocks: unknown; markdown: string; html: string } {
    const editor = BlockNoteEditor.create()
    // The types of BlockNote do not fit its own editor if absent members are not undefined.
    const blocks = yDocToBlocks(editor as never, doc, contentKey) as PartialBlock[]
    return {
      blocks: withoutIds(blocks),
      markdown: editor.blocksToMarkdownLossy(blocks),
      html: editor.blocksToHTMLLossy(blocks),
    }
  },
}

/** Returns blocks as JSON without their ids. */
const withoutIds = (blocks: unknown): unknown =>
  JSON.parse(JSON.stringify(blocks, (name, value: unknown) => (name === 'id' ? undefined : value)))
