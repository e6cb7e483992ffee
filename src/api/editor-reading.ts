import * as Y from 'yjs'
import { type Content, readContent, readContentAs } from '../content/read.ts'

/** How the content of an editor is answered. */
export const contentFormat = {
  type: 'string',
  enum: ['json', 'text', 'xml', 'delta', 'xmltext', 'update'],
  default: 'json',
  description:
    '`json`: as update takes it for the type found; `text`, `xml`, `delta`, `xmltext`: as update takes it for that type; ' +
    '`update`: base64 of the Yjs state (V1).',
} as const

type Format = (typeof contentFormat.enum)[number]

/** One root of a document in a format. @throws ApiError INVALID_ARGUMENT when the root holds something else */
export function readFormat(
  doc: Y.Doc,
  { contentKey, format = 'json' }: { readonly contentKey?: string; readonly format?: Format },
): Content {
  if (format !== 'json' && format !== 'update') return readContentAs(doc, format, contentKey)
  const content = readContent(doc, contentKey)
  if (format === 'json') return content
  return { ...content, data: Buffer.from(Y.encodeStateAsUpdate(doc)).toString('base64') }
}
