import type { MarkSet } from '../xml/mark-sets.ts'
import type { NormalForm } from '../xml/normal-form.ts'
import type { ObservedSchema } from '../xml/observed-schema.ts'
import type { MarkForm } from '../xml/stored-marks.ts'
import type { BlockMarks, BlockNode, HardBreak } from './block.ts'

/** The nodes that a dialect has a stored name for. */
export type NamedKind = Exclude<(BlockNode | HardBreak)['kind'], 'custom'>

export type MarkName = keyof BlockMarks

/** How a family of editors stores neutral nodes and marks. */
export interface Dialect {
  /** Stored names of nodes. A node without a name does not exist in the family. */
  readonly nodes: Readonly<Partial<Record<NamedKind, string>>>
  readonly marks: Readonly<Partial<Record<MarkName, string>>>
  /** Stored name of the attribute for the language of a code block. */
  readonly language: string
  /** Stored name of the attribute for the first number of an ordered list. */
  readonly start: string
  /** Attributes that the editor itself gives to new nodes, because their default is not null. */
  readonly defaults: Readonly<Partial<Record<NamedKind, Readonly<Record<string, string>>>>>
  /** True if an image is a block. Otherwise an image is a part of a line. */
  readonly hasBlockImages: boolean
  /** The schema that the content must match; null without one. */
  readonly editor: NormalForm | null
  /** True if a text with the mark `code` cannot have other marks. */
  readonly isCodeAlone?: true
  /** True if the editor has no lists: their items are blocks. */
  readonly isFlat?: true
}

type EditorNames = Omit<Dialect, 'editor'>

const tableCell = { colspan: '1', rowspan: '1' }

/** Names of Tiptap's StarterKit and its extensions for tables, tasks and images. */
const tiptap: EditorNames = {
  nodes: {
    paragraph: 'paragraph',
    heading: 'heading',
    blockquote: 'blockquote',
    bulletList: 'bulletList',
    orderedList: 'orderedList',
    listItem: 'listItem',
    taskList: 'taskList',
    taskItem: 'taskItem',
    codeBlock: 'codeBlock',
    horizontalRule: 'horizontalRule',
    table: 'table',
    tableRow: 'tableRow',
    tableCell: 'tableCell',
    tableHeader: 'tableHeader',
    image: 'image',
    hardBreak: 'hardBreak',
  },
  marks: { bold: 'bold', italic: 'italic', strike: 'strike', code: 'code', link: 'link' },
  language: 'language',
  start: 'start',
  defaults: { tableCell, tableHeader: tableCell },
  hasBlockImages: true,
}

/**
 * Names of BlockNote, in the tree that `NoteTree` shows. In this tree, each item is a list of its own. The
 * names of items start with `#`, so that no stored node has them.
 */
const blockNote: Dialect = {
  ...tiptap,
  // Its nodes in this tree do not have the names of the schema.
  editor: null,
  nodes: {
    ...tiptap.nodes,
    blockquote: 'quote',
    bulletList: 'bulletListItem',
    orderedList: 'numberedListItem',
    listItem: '#item',
    taskList: 'checkListItem',
    taskItem: '#task',
    horizontalRule: 'divider',
  },
  defaults: {},
  isCodeAlone: true,
  isFlat: true,
}

/** Names of `prosemirror-schema-basic` and `prosemirror-schema-list`. */
const proseMirror: EditorNames = {
  nodes: {
    paragraph: 'paragraph',
    heading: 'heading',
    blockquote: 'blockquote',
    bulletList: 'bullet_list',
    orderedList: 'ordered_list',
    listItem: 'list_item',
    codeBlock: 'code_block',
    horizontalRule: 'horizontal_rule',
    image: 'image',
    hardBreak: 'hard_break',
  },
  marks: { bold: 'strong', italic: 'em', code: 'code', link: 'link' },
  language: 'params',
  start: 'order',
  defaults: {},
  hasBlockImages: false,
}

/** Names of `prosemirror-tables`, for ProseMirror documents that have tables. */
const proseMirrorTables = {
  table: 'table',
  tableRow: 'table_row',
  tableCell: 'table_cell',
  tableHeader: 'table_header',
} as const

const proseMirrorNames = [
  'bullet_list',
  'ordered_list',
  'list_item',
  'code_block',
  'horizontal_rule',
  'hard_break',
  'table_row',
  'strong',
  'em',
]

/** Names of Tiptap that ProseMirror's own schemas do not have. */
const tiptapNames = [
  'bulletList',
  'orderedList',
  'listItem',
  'taskList',
  'codeBlock',
  'horizontalRule',
  'hardBreak',
  'tableRow',
  'bold',
  'italic',
]

/** Spellings of a mark for strikethrough in schemas that extend ProseMirror's basic schema. */
const strikeNames = ['strikethrough', 'strike', 's']

/** Spellings of marks that not every editor has. */
const spellings = {
  underline: ['underline', 'u'],
  subscript: ['subscript', 'sub'],
  superscript: ['superscript', 'sup'],
} as const satisfies Readonly<Partial<Record<MarkName, readonly string[]>>>

/** Returns the names of the marks for underlined, subscript and superscript text that a root or its schema has. */
export const lineMarks = (schema: ObservedSchema): Dialect['marks'] =>
  Object.fromEntries(
    Object.entries(spellings).flatMap(([mark, names]) => {
      const name = names.find((each) => schema.has(each))
      return name === undefined ? [] : [[mark, name]]
    }),
  )

/** Returns whether the root has the nesting of BlockNote. */
export const isBlockNote = (schema: ObservedSchema, contentKey: string): boolean =>
  schema.has('blockGroup') || (schema.editor === null && contentKey === 'document-store' && schema.isUnused)

/**
 * Chooses the dialect of a root by the names that it or its schema uses. If the names leave the choice open,
 * the name of the root decides.
 * @param hasInlineImages whether a line of the root contains an image
 */
export function dialectOf(schema: ObservedSchema, contentKey: string, hasInlineImages: boolean): Dialect {
  if (isBlockNote(schema, contentKey)) return blockNote
  const { editor } = schema
  const uses = (name: string): boolean => schema.has(name)
  const isTiptap = tiptapNames.some(uses)
  const isProseMirror =
    editor === null
      ? proseMirrorNames.some(uses) || (contentKey === 'prosemirror' && !isTiptap)
      : proseMirrorNames.some(uses) && !isTiptap
  if (!isProseMirror) {
    const needsLine = editor !== null && !editor.startsWith(editor.topNode, 'image')
    return { ...tiptap, editor, hasBlockImages: !(hasInlineImages || needsLine) }
  }
  const strike = strikeNames.find(uses)
  return {
    ...proseMirror,
    editor,
    nodes: uses('table_row') ? { ...proseMirror.nodes, ...proseMirrorTables } : proseMirror.nodes,
    marks: strike === undefined ? proseMirror.marks : { ...proseMirror.marks, strike },
  }
}

/** Sets of marks, by their numbers; 0 is the empty set. */
export interface MarkIndex {
  /** Returns the marks of a set. A mark is always represented by the same object. */
  formsOf(set: MarkSet): readonly MarkForm[]
  /** Returns the set with one more mark. */
  with(set: MarkSet, form: MarkForm): MarkSet
}
