import type * as Y from 'yjs'
import { checkFormatted, type TextOfBlocks } from './blocks/block-format.ts'
import { isQuill, quillKey } from './blocks/quill/quill-dialect.ts'
import { readQuillBlocks, replaceQuillBlocks } from './blocks/quill/quill-root.ts'
import { readXmlBlocks, replaceXmlBlocks } from './blocks/xml-blocks.ts'
import type { ContentTypeName } from './content-type-names.ts'
import { checkDelta, readDelta, replaceDelta } from './delta/delta.ts'
import { htmlFormat } from './html/html.ts'
import { markdownFormat } from './markdown/markdown.ts'
import { migrateRoot } from './migration/migrate-root.ts'
import { MigrationPlan, type MigrationRule } from './migration/rules.ts'
import type { Output } from './output.ts'
import { checkProseMirror, readProseMirror } from './prosemirror/prosemirror.ts'
import { type ContentSchema, kindOfSchema, nodeSchema } from './schemas/compiled-schema.ts'
import { checkText, readText, replaceText } from './text/text.ts'
import {
  checkArray,
  checkMap,
  readArrayRoot,
  readMapRoot,
  replaceArray,
  replaceMap,
} from './values/replace-values.ts'
import { serializeXml } from './xml/serialize.ts'
import type { TargetTree } from './xml/target-tree.ts'
import { checkXml, replaceTree } from './xml/xml.ts'
import { checkXmlText } from './xmltext/validator.ts'
import { readXmlText, replaceXmlText } from './xmltext/xmltext.ts'
import { type KnownKind, rootKind } from './yjs/root-kind.ts'
import type { RootReplacement } from './yjs/root-replacement.ts'

/**
 * Changes a root so that it equals data that was checked before. The root must have a matching kind. There is
 * at most one transaction, and the work is limited. If there is a schema, new nodes and marks of XML get the
 * form in which its editor stores them.
 */
export type ReplaceFunction = (
  doc: Y.Doc,
  contentKey: string,
  schema: ContentSchema | null,
) => RootReplacement

/** Operations of one content type: check, write and read. */
export interface ContentType {
  /** Returns the kind that an existing root must have, and that a new root gets. */
  kindOf(doc: Y.Doc, contentKey: string, schemaKind?: KnownKind): KnownKind
  /**
   * Runs all checks of the data that need no document. Returns the function that applies the data.
   * @throws ApiError INVALID_ARGUMENT with the problem and its position
   */
  check(data: unknown): ReplaceFunction
  /**
   * Returns the content of a root as data. A replacement of the root by this data would change nothing.
   * @throws ApiError RESOURCE_EXHAUSTED as for `Output`
   */
  read(doc: Y.Doc, contentKey: string, output?: Output, schemaKind?: KnownKind): unknown
}

/** Returns a content type whose data is checked before it replaces a root. */
const contentType = <Target>(
  kind: KnownKind | ContentType['kindOf'],
  check: (data: unknown) => Target,
  replace: (doc: Y.Doc, contentKey: string, target: Target, schema: ContentSchema | null) => RootReplacement,
  read: ContentType['read'],
): ContentType => ({
  kindOf: typeof kind === 'string' ? () => kind : kind,
  check: (data) => {
    const target = check(data)
    return (doc, contentKey, schema) => replace(doc, contentKey, target, schema)
  },
  read,
})

/**
 * The type whose data is the rules of a migration, and not content. It belongs here so that a migration takes the path of
 * every other change. Requests cannot name it.
 */
export const migrationType = 'migration'

/**
 * Content types by their names in the REST API, and `migrationType`. The object has no prototype, so that `constructor` is not a
 * type.
 */
export const contentTypes: Readonly<Record<string, ContentType>> = Object.assign(Object.create(null), {
  text: contentType('text', checkText, replaceText, readText),
  map: contentType('map', checkMap, replaceMap, readMapRoot),
  array: contentType('array', checkArray, replaceArray, readArrayRoot),
  xml: contentType('xml', checkXml, replaceNodes, serializeXml),
  markdown: contentType(
    markdownKind,
    (data) => checkFormatted(markdownFormat, data),
    replaceMarkdown,
    readMarkdown,
  ),
  delta: contentType('text', checkDelta, replaceDelta, readDelta),
  xmltext: contentType('xmltext', checkXmlText, replaceXmlText, readXmlText),
  html: contentType(
    'xml',
    (data) => checkFormatted(htmlFormat, data),
    (doc, contentKey, target, schema) => replaceXmlBlocks(doc, contentKey, target, nodeSchema(schema)),
    (doc, contentKey, output) => readXmlBlocks(doc, contentKey, htmlFormat, output),
  ),
  prosemirror: contentType('xml', checkProseMirror, replaceNodes, readProseMirror),
  [migrationType]: contentType(
    'xml',
    (data) => new MigrationPlan(data as readonly MigrationRule[]),
    migrateRoot,
    serializeXml,
  ),
} satisfies Record<ContentTypeName | typeof migrationType, ContentType>)

/** Makes a root of XML equal to its target. */
function replaceNodes(
  doc: Y.Doc,
  contentKey: string,
  target: TargetTree,
  schema: ContentSchema | null,
): RootReplacement {
  return replaceTree(doc, contentKey, target, nodeSchema(schema))
}

/**
 * Returns the kind that a root must have, or gets, for content in Markdown: text or XML. If the root is empty,
 * its schema or its name decides.
 * @param schemaKind the kind that the schema of the root describes; undefined without a schema
 */
function markdownKind(doc: Y.Doc, contentKey: string, schemaKind?: KnownKind): 'text' | 'xml' {
  const kind = rootKind(doc, contentKey)
  if (kind !== 'none') return kind === 'text' ? 'text' : 'xml'
  return schemaKind === 'text' || (schemaKind === undefined && contentKey === quillKey) ? 'text' : 'xml'
}

/**
 * Makes a root equal to a text in Markdown. A text that is not from Quill has Markdown as its plain text.
 * @throws ApiError INVALID_ARGUMENT as for the functions of the kind of root
 */
function replaceMarkdown(
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
function readMarkdown(doc: Y.Doc, contentKey: string, output?: Output, schemaKind?: KnownKind): string {
  const kind = markdownKind(doc, contentKey, schemaKind)
  if (kind === 'xml') return readXmlBlocks(doc, contentKey, markdownFormat, output)
  if (isQuill(doc.share.get(contentKey), contentKey, schemaKind))
    return readQuillBlocks(doc, contentKey, markdownFormat, output)
  return readText(doc, contentKey)
}
