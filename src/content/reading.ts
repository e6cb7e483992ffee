import * as Y from 'yjs'
import { readStatistics, type Statistics } from '../update/statistics.ts'
import { type Content, readContent, readContentAs } from './read.ts'

/** How content is read: `json` as the type found, `update` as base64 of the whole state (V1), others as that type. */
export const readingFormats = ['json', 'text', 'xml', 'delta', 'xmltext', 'update'] as const

/** What of a document is read. */
export interface Reading {
  /** As `readContent` has it. */
  readonly contentKey?: string | undefined
  /** Default `json`. */
  readonly format?: (typeof readingFormats)[number] | undefined
  /** Default false. */
  readonly statistics?: boolean | undefined
}

/** What was read, and how the document is made up where that was asked for. */
export interface ReadContent extends Content {
  readonly statistics?: Statistics
}

/** One root of a document in a format. @throws ApiError INVALID_ARGUMENT when the root holds something else */
export function readDocument(doc: Y.Doc, { contentKey, format = 'json' }: Reading): Content {
  if (format !== 'json' && format !== 'update') return readContentAs(doc, format, contentKey)
  const content = readContent(doc, contentKey)
  if (format === 'json') return content
  return { ...content, data: Buffer.from(Y.encodeStateAsUpdate(doc)).toString('base64') }
}

/** The same, with what only its whole state (V1) tells. */
export function readWhole(doc: Y.Doc, bytes: Uint8Array, reading: Reading): ReadContent {
  const content = readDocument(doc, reading)
  return reading.statistics === true ? { ...content, statistics: readStatistics(bytes) } : content
}

/** The same of a whole state (V1). */
export function readState(bytes: Uint8Array, reading: Reading): ReadContent {
  const doc = new Y.Doc()
  try {
    Y.applyUpdate(doc, bytes)
    return readWhole(doc, bytes, reading)
  } finally {
    doc.destroy()
  }
}
