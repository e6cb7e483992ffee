import * as Y from 'yjs'
import type { KnownKind, SharedRoot } from '../../yjs/root-kind.ts'
import type { BlockFeatures } from '../block-format.ts'
import type { Dialect } from '../dialect.ts'

/**
 * Names of the blocks as which a text of Quill is read. Quill stores no such nodes: a line break has the
 * attributes of its line. Quill has no horizontal rules and no line breaks in a line.
 */
export const quillDialect: Dialect = {
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
    image: 'image',
  },
  marks: { bold: 'bold', italic: 'italic', strike: 'strike', code: 'code', link: 'link' },
  language: 'language',
  start: 'start',
  defaults: {},
  editor: null,
  hasBlockImages: false,
}

/** Features of a text of Quill. A table in another format is stored as text. */
export const quillFeatures: BlockFeatures = {
  table: false,
  strike: true,
  taskList: true,
  blockImages: false,
}

/** Attribute of a line with the attributes of its line break, as JSON, if its structure does not state them. */
export const lineAttribute = 'line'

/** Attribute of a list with the number of indents that no list around it accounts for. */
export const stepAttribute = 'step'

/** Embeds that Quill shows as blocks, without a line break after them. */
export const blockEmbeds: ReadonlySet<string> = new Set(['video'])

/** Name of the root that Quill uses. */
export const quillKey = 'quill'

/**
 * Returns whether a text is that of a rich-text editor, and not plain text: its name is that of Quill, its
 * schema is one for texts, or it has formatting or embeds.
 * @param schemaKind the kind that the schema of the root describes; undefined without a schema
 */
export function isQuill(root: SharedRoot | undefined, contentKey: string, schemaKind?: KnownKind): boolean {
  if (contentKey === quillKey || schemaKind === 'text') return true
  for (let item = root?._start ?? null; item !== null; item = item.right) {
    if (item.deleted) continue
    const { content } = item
    if (content instanceof Y.ContentEmbed || content instanceof Y.ContentType) return true
    if (content instanceof Y.ContentFormat && content.value !== null) return true
  }
  return false
}
