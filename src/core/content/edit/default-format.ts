import * as Y from 'yjs'
import { isQuill } from '../blocks/quill/quill-dialect.ts'
import { type ContentSchema, kindOfSchema } from '../schemas/any-schema.ts'
import { isRichTextElement, isRichTextRoot } from '../xml/observed-schema.ts'
import type { KnownKind, SharedRoot } from '../yjs/root-kind.ts'
import type { CheckedEdit, Edit, GivenContent, InsertedContent } from './edit.ts'

/** Matches text that Markdown can read as something else than one line of this text. */
const syntax = /[\\`*_~#>|<&[\]!+=\r\n-]|^\s|\s$|\d[.)]|www\.|:\/\/|@/

/**
 * Returns an edit whose content has a format. The default of a string is Markdown in rich text, and text in all
 * other roots.
 * @throws ApiError INVALID_ARGUMENT if the Markdown exceeds a limit
 */
export function withFormat(edit: CheckedEdit, isRich: () => boolean): Edit {
  if (edit.is === 'replace') return { ...edit, content: formatted(edit.content, isRich) }
  return edit.is === 'insert' ? { ...edit, content: formatted(edit.content, isRich) } : edit
}

function formatted(content: GivenContent, isRich: () => boolean): InsertedContent {
  if (content.format !== 'default') return content
  const { text } = content
  const isMarkdown = text.trim() !== '' && syntax.test(text) && isRich()
  return isMarkdown ? content.asMarkdown() : { format: 'text', text }
}

/** Returns whether a root has rich text for which Markdown can be written. */
export function isRichText(
  root: SharedRoot,
  kind: KnownKind,
  contentKey: string,
  schema: ContentSchema | null,
): boolean {
  if (kind === 'text') return isQuill(root, contentKey, schema === null ? undefined : kindOfSchema(schema))
  return kind === 'xml' && (schema !== null || isRichTextRoot(contentKey) || hasRichText(root))
}

/** Returns whether XML has formatting, or an element that only rich text has. */
function hasRichText(type: SharedRoot): boolean {
  for (let item = type._start; item !== null; item = item.right) {
    if (item.deleted) continue
    const { content } = item
    if (content instanceof Y.ContentFormat) return true
    if (!(content instanceof Y.ContentType)) continue
    const child: unknown = content.type
    if (child instanceof Y.XmlElement && isRichTextElement(child.nodeName)) return true
    if (hasRichText(content.type)) return true
  }
  return false
}
