import * as Y from 'yjs'
import { EncodedJson, encodeJson } from '../model/json-pieces.ts'
import { applyIntegrable, noPlacements, withinBudget } from '../update/integration.ts'
import { readStatistics, type Statistics } from '../update/statistics.ts'
import { readableTypes } from './content-type-names.ts'
import { contentTypes } from './content-types.ts'
import { Output, readMax } from './output.ts'
import { checkContentKey, checkKind, contentTypeOf } from './replace.ts'
import { contentKeyOf, listRoots, requireRoot } from './roots.ts'
import { createDoc } from './yjs/create-doc.ts'
import { type KnownKind, rootKind } from './yjs/root-kind.ts'

/** The content of a root, in the form in which a replacement accepts it. */
interface RootContent {
  readonly type: string
  readonly contentKey: string
  readonly data: unknown
}

/**
 * Reads one root, which `contentKeyOf` determines. An empty root without a kind is read as empty text.
 * @throws ApiError INVALID_ARGUMENT if `contentKey` cannot be the name of a root; NOT_FOUND as for
 * `requireRoot`
 */
export function readRoot(doc: Y.Doc, contentKey?: string, output = new Output(readMax)): RootContent {
  const root = findRoot(doc, contentKey)
  requireRoot(doc, root.contentKey, contentKey)
  return { ...root, data: contentTypes[root.type]?.read(doc, root.contentKey, output) }
}

/**
 * Returns the root that `readRoot` would read, without its data. The root need not exist.
 * @throws ApiError INVALID_ARGUMENT
 */
export function findRoot(doc: Y.Doc, contentKey?: string): Omit<RootContent, 'data'> {
  if (contentKey !== undefined) checkContentKey(contentKey)
  const key = contentKeyOf(doc, contentKey)
  const kind = rootKind(doc, key)
  return { type: kind === 'none' ? 'text' : kind, contentKey: key }
}

/**
 * Reads one root as content of the given type. An empty root without a kind is read as empty content of that
 * type.
 * @param schemaKind the kind that the schema of the root describes; undefined without a schema
 * @throws ApiError as for `readRoot`; INVALID_ARGUMENT if the type does not exist, or if the root has another
 * kind
 */
export function readRootAs(
  doc: Y.Doc,
  type: string,
  contentKey?: string,
  output = new Output(readMax),
  schemaKind?: KnownKind,
): RootContent {
  const { contentKey: key } = findRoot(doc, contentKey)
  const wanted = contentTypeOf(type)
  requireRoot(doc, key, contentKey)
  checkKind(doc, { type, contentKey: key }, wanted.kindOf(doc, key, schemaKind))
  return { type, contentKey: key, data: wanted.read(doc, key, output, schemaKind) }
}

/**
 * Formats of a read. `json`: the content in the type that the root has. `update`: the whole state in
 * base64. `roots`: a list of all roots. Any other format is a content type. `update` and `roots` read no
 * root, so the given root need not exist.
 */
export const readingFormats = ['json', ...readableTypes, 'update', 'roots'] as const
export type ReadingFormat = (typeof readingFormats)[number]

/** Encodings of updates of Yjs. */
export const updateEncodings = ['v1', 'v2'] as const
export type UpdateEncoding = (typeof updateEncodings)[number]

export interface DocumentReading {
  /** Name of the root; see `readRoot`. */
  readonly contentKey?: string | undefined
  /** Default: `json`. */
  readonly format?: ReadingFormat | undefined
  /** The kind that the schema of the root describes; absent without a schema. */
  readonly schemaKind?: KnownKind | undefined
  /** Encoding of the format `update`. Default: `v1`. */
  readonly encoding?: UpdateEncoding | undefined
  /** Default: false. */
  readonly statistics?: boolean | undefined
}

/** The encoded content of a root, and the statistics of the document if the caller requested them. */
export interface EncodedContent extends RootContent {
  readonly data: EncodedJson
  readonly statistics?: Statistics
}

/**
 * Reads one root of a document in a format.
 * @throws ApiError INVALID_ARGUMENT if the root has other content; NOT_FOUND if the root does not exist;
 * RESOURCE_EXHAUSTED as for `Output`
 */
export function readDocument(
  doc: Y.Doc,
  { contentKey, format = 'json', schemaKind, encoding }: DocumentReading,
  output?: Output,
): RootContent {
  if (format === 'json') return readRoot(doc, contentKey, output)
  if (format === 'roots') return { ...findRoot(doc, contentKey), data: listRoots(doc) }
  if (format !== 'update') return readRootAs(doc, format, contentKey, output, schemaKind)
  return {
    ...findRoot(doc, contentKey),
    data: Buffer.from(encodeState(doc, encoding)).toString('base64'),
  }
}

const encodeState = (doc: Y.Doc, encoding: UpdateEncoding = 'v1'): Uint8Array =>
  encoding === 'v1' ? Y.encodeStateAsUpdate(doc) : Y.encodeStateAsUpdateV2(doc)

/**
 * Reads a document like `readDocument`, and encodes the data. The memory use is at most `bytesMax` plus the
 * size of the document.
 * @param bytes the whole state (V1) of the document
 * @param bytesMax limit of the encoded data; with the format `update`, the data may have the size of the
 * document
 */
export function readEncoded(
  doc: Y.Doc,
  bytes: Uint8Array,
  reading: DocumentReading,
  bytesMax: number,
): EncodedContent {
  if (reading.format === 'update') {
    const data = new EncodedJson('base64', [encodeState(doc, reading.encoding)])
    return withStatistics({ ...findRoot(doc, reading.contentKey), data }, bytes, reading)
  }
  const { data, ...root } = readDocument(doc, reading, new Output(bytesMax))
  return withStatistics({ ...root, data: encodeJson(data, bytesMax) }, bytes, reading)
}

/**
 * Reads a whole state (V1) like `readEncoded`.
 * @param stepsMax maximum number of steps that Yjs may take to read the state; default: unlimited
 * @throws IntegrationTooExpensiveError
 */
export const readStateEncoded = (
  bytes: Uint8Array,
  reading: DocumentReading,
  bytesMax: number,
  stepsMax?: number,
): EncodedContent => withState(bytes, (doc) => readEncoded(doc, bytes, reading, bytesMax), stepsMax)

const withStatistics = (
  content: EncodedContent,
  bytes: Uint8Array,
  { statistics }: DocumentReading,
): EncodedContent => (statistics === true ? { ...content, statistics: readStatistics(bytes) } : content)

/**
 * Calls `read` with the document of a whole state (V1), and then destroys the document.
 * @param stepsMax as for `readStateEncoded`
 */
export function withState<T>(
  bytes: Uint8Array,
  read: (doc: Y.Doc) => T,
  stepsMax = Number.POSITIVE_INFINITY,
): T {
  const doc = createDoc()
  try {
    withinBudget({ ...noPlacements, doc, stepsMax }, () => applyIntegrable(doc, bytes))
    return read(doc)
  } finally {
    doc.destroy()
  }
}
