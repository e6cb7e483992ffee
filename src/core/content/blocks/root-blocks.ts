import type * as Y from 'yjs'
import type { Output } from '../output.ts'
import { type ContentSchema, kindOfSchema, nodeSchema } from '../schemas/any-schema.ts'
import { readText, replaceText } from '../text/text.ts'
import { type KnownKind, rootKind } from '../yjs/root-kind.ts'
import type { RootReplacement } from '../yjs/root-replacement.ts'
import type { BlockFormat, TextOfBlocks } from './block-format.ts'
import { isQuill, quillKey } from './quill/quill-dialect.ts'
import { readQuillBlocks, replaceQuillBlocks } from './quill/quill-root.ts'
import { readXmlBlocks, replaceXmlBlocks } from './xml-blocks.ts'

/**
 * Returns the kind that a root must have, or gets, for content in Markdown: text or XML. If the root is empty,
 * its schema or its name decides.
 * @param schemaKind the kind that the schema of the root describes; undefined without a schema
 */
export function markdownKind(doc: Y.Doc, contentKey: string, schemaKind?: KnownKind): 'text' | 'xml' {
  const kind = rootKind(doc, contentKey)
  if (kind !== 'none') return kind === 'text' ? 'text' : 'xml'
  return schemaKind === 'text' || (schemaKind === undefined && contentKey === quillKey) ? 'text' : 'xml'
}

/**
 * Makes a root equal to a text in Markdown. A text that is not from Quill has Markdown as its plain text.
 * @throws ApiError INVALID_ARGUMENT as for the functions of the kind of root
 */
export function replaceMarkdown(
  doc: Y.Doc,
  contentKey: string,
  target: TextOfBlocks,
  schema: ContentSchema | null,
): RootReplacement {
  const schemaKind = schema === null ? undefined : kindOfSchema(schema)
  const kind = markdownKind(doc, contentKey, schemaKind)
  if (kind === 'xml') return replaceXmlBlocks(doc, contentKey, target, nodeSchema(schema))
  if (isQuill(doc.share.get(contentKey), contentKey, schemaKind))
    return replaceQuillBlocks(doc, contentKey, target)
  return replaceText(doc, contentKey, target.text.toWellFormed())
}

/**
 * Returns the content of a root as Markdown.
 * @throws ApiError as for the functions of the kind of root
 */
export function readMarkdown(
  doc: Y.Doc,
  contentKey: string,
  format: BlockFormat,
  output?: Output,
  schemaKind?: KnownKind,
): string {
  const kind = markdownKind(doc, contentKey, schemaKind)
  if (kind === 'xml') return readXmlBlocks(doc, contentKey, format, output)
  if (isQuill(doc.share.get(contentKey), contentKey, schemaKind))
    return readQuillBlocks(doc, contentKey, format, output)
  return readText(doc, contentKey)
}
