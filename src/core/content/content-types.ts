import type * as Y from 'yjs'
import { checkFormatted } from './blocks/block-format.ts'
import { markdownKind, readMarkdown, replaceMarkdown } from './blocks/root-blocks.ts'
import { readXmlBlocks, replaceXmlBlocks } from './blocks/xml-blocks.ts'
import type { ContentTypeName } from './content-type-names.ts'
import { checkDelta, readDelta, replaceDelta } from './delta/delta.ts'
import { htmlFormat } from './html/html.ts'
import { markdownFormat } from './markdown/markdown.ts'
import type { Output } from './output.ts'
import { checkProseMirror, readProseMirror } from './prosemirror/prosemirror.ts'
import { type ContentSchema, nodeSchema } from './schemas/any-schema.ts'
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
import { checkXml, replaceTyped, replaceXml } from './xml/xml.ts'
import { checkXmlText } from './xmltext/validator.ts'
import { readXmlText, replaceXmlText } from './xmltext/xmltext.ts'
import type { KnownKind } from './yjs/root-kind.ts'
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

const text: ContentType = {
  kindOf: () => 'text',
  check: (data) => {
    const target = checkText(data)
    return (doc, contentKey) => replaceText(doc, contentKey, target)
  },
  read: readText,
}

const map: ContentType = {
  kindOf: () => 'map',
  check: (data) => {
    const target = checkMap(data)
    return (doc, contentKey) => replaceMap(doc, contentKey, target)
  },
  read: readMapRoot,
}

const array: ContentType = {
  kindOf: () => 'array',
  check: (data) => {
    const target = checkArray(data)
    return (doc, contentKey) => replaceArray(doc, contentKey, target)
  },
  read: readArrayRoot,
}

const xml: ContentType = {
  kindOf: () => 'xml',
  check: (data) => {
    const target = checkXml(data)
    return (doc, contentKey, schema) => replaceXml(doc, contentKey, target, nodeSchema(schema))
  },
  read: serializeXml,
}

const markdown: ContentType = {
  kindOf: markdownKind,
  check: (data) => {
    const target = checkFormatted(markdownFormat, data)
    return (doc, contentKey, schema) => replaceMarkdown(doc, contentKey, target, schema)
  },
  read: (doc, contentKey, output, schemaKind) =>
    readMarkdown(doc, contentKey, markdownFormat, output, schemaKind),
}

const html: ContentType = {
  kindOf: () => 'xml',
  check: (data) => {
    const target = checkFormatted(htmlFormat, data)
    return (doc, contentKey, schema) => replaceXmlBlocks(doc, contentKey, target, nodeSchema(schema))
  },
  read: (doc, contentKey, output) => readXmlBlocks(doc, contentKey, htmlFormat, output),
}

const delta: ContentType = {
  kindOf: () => 'text',
  check: (data) => {
    const target = checkDelta(data)
    return (doc, contentKey) => replaceDelta(doc, contentKey, target)
  },
  read: readDelta,
}

const xmltext: ContentType = {
  kindOf: () => 'xmltext',
  check: (data) => {
    const target = checkXmlText(data)
    return (doc, contentKey) => replaceXmlText(doc, contentKey, target)
  },
  read: readXmlText,
}

const prosemirror: ContentType = {
  kindOf: () => 'xml',
  check: (data) => {
    const target = checkProseMirror(data)
    return (doc, contentKey, schema) => replaceTyped(doc, contentKey, target, nodeSchema(schema))
  },
  read: readProseMirror,
}

/**
 * Content types by their names in the REST API. The object has no prototype, so that `constructor` is not a
 * type.
 */
export const contentTypes: Readonly<Record<string, ContentType>> = Object.assign(Object.create(null), {
  text,
  map,
  array,
  xml,
  markdown,
  delta,
  xmltext,
  html,
  prosemirror,
} satisfies Record<ContentTypeName, ContentType>)
