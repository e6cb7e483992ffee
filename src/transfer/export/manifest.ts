import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { adoptedMax } from '../../engine/log-state.ts'
import { readJson } from '../../json.ts'
import type { DocumentAddress } from '../../model/address.ts'

/**
 * The format of an export. Its directory contains `export.json`, which names the lists and their SHA-256. The lists
 * have one JSON object per line, and name all other files and their SHA-256.
 */
export const exportFormat = 'weft-export 1'

export const summaryName = 'export.json'
export const listNames = {
  documents: 'documents.jsonl',
  values: 'admin.jsonl',
  blobs: 'blobs.jsonl',
  jobs: 'jobs.jsonl',
} as const
export type ListKind = keyof typeof listNames

/** A file of an export. */
export interface FileEntry {
  /** Path below the directory of the export, with `/`. */
  readonly file: string
  readonly bytes: number
  /** Hexadecimal. */
  readonly sha256: string
}

/** A file of a document: its whole state (Yjs V1), all its roots as JSON, or one root. */
export interface DocumentFile extends FileEntry {
  readonly is: 'update' | 'json' | 'text' | 'xml'
  /** Name of the root; absent if the file has the whole document. */
  readonly contentKey?: string
}

/** Position of a document's log. `epoch` and `head` occur in the versions of the REST API. */
export interface ExportedLog {
  readonly epoch: number
  readonly head: number
  /** Epoch milliseconds and user of the last change; the user is '' if it is not known. */
  readonly changedAt: number
  readonly changedBy: string
}

/**
 * A line of `documents.jsonl`. A deleted document stays deleted after an import, so that clients that still have it
 * cannot restore it.
 */
export type DocumentLine =
  | {
      readonly state: 'live'
      readonly address: DocumentAddress
      readonly log: ExportedLog
      /** Yjs state vector (V1), base64. */
      readonly stateVector: string
      readonly files: readonly DocumentFile[]
    }
  | { readonly state: 'deleted'; readonly address: DocumentAddress; readonly epoch: number }

export type LiveLine = Extract<DocumentLine, { state: 'live' }>

/** Stored bytes: as JSON if they equal the output of `JSON.stringify`, else as base64. */
export type ExportedBytes = { readonly json: unknown } | { readonly base64: string }

/** A line of `admin.jsonl`: one key and value of a partition. */
export type ValueLine = ExportedBytes & {
  readonly part: readonly string[]
  readonly key: readonly string[]
  /** Members of the JSON that were left out. An import generates new values. */
  readonly secrets?: readonly string[]
}

/** A line of `blobs.jsonl`: the content of a version. */
export interface BlobLine extends FileEntry {
  readonly key: readonly string[]
}

/** A line of `jobs.jsonl`: waiting background work. A `buried` job is a dead letter, which is for reading only. */
export type JobLine = ExportedBytes & {
  readonly is: 'job' | 'buried'
  readonly queue: string
  readonly id: string
  /** Epoch milliseconds at which it is due. */
  readonly at: number
  /** Error of the last attempt of a dead letter. */
  readonly error?: string
}

export interface ExportSummary {
  readonly format: typeof exportFormat
  /** Version of Weft. */
  readonly version: string
  /** ISO 8601. */
  readonly madeAt: string
  /** `all` data, or `documents` only. */
  readonly holds: 'all' | 'documents'
  /** Null for all organizations. */
  readonly organizationId: string | null
  readonly secrets: 'left out' | 'included'
  /** The file `credentials.json` of the data directory, with secrets. */
  readonly credentials: FileEntry | null
  readonly lists: Readonly<Record<ListKind, FileEntry & { readonly lines: number }>>
}

export const sha256Of = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('hex')

/** Returns the text of `export.json`, which ends with its own checksum. */
export function encodeSummary(summary: ExportSummary): string {
  const sha256 = sha256Of(JSON.stringify(summary))
  return `${JSON.stringify({ ...summary, sha256 }, null, 2)}\n`
}

const text = v.pipe(
  v.string(),
  v.check((value) => value.isWellFormed()),
)
const count = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(adoptedMax))

export const fileSchema = v.looseObject({
  file: text,
  bytes: count,
  sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
})

const listSchema = (kind: ListKind) =>
  v.looseObject({ ...fileSchema.entries, file: v.literal(listNames[kind]), lines: count })

const summarySchema = v.looseObject({
  format: v.literal(exportFormat),
  version: v.string(),
  madeAt: v.string(),
  holds: v.picklist(['all', 'documents']),
  organizationId: v.nullable(text),
  secrets: v.picklist(['left out', 'included']),
  credentials: v.nullable(fileSchema),
  lists: v.looseObject({
    documents: listSchema('documents'),
    values: listSchema('values'),
    blobs: listSchema('blobs'),
    jobs: listSchema('jobs'),
  }),
  sha256: v.string(),
})

/** Parses `export.json`. Returns null if `encodeSummary` would not produce this text. */
export function decodeSummary(json: string): ExportSummary | null {
  try {
    const { sha256: _, ...summary } = readJson(summarySchema, json)
    return encodeSummary(summary) === json ? summary : null
  } catch {
    return null
  }
}

/** Converts bytes to their form in a line. */
export function exportedBytes(bytes: Uint8Array): ExportedBytes {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  try {
    const json: unknown = JSON.parse(buffer.toString())
    if (Buffer.from(JSON.stringify(json)).equals(buffer)) return { json }
  } catch {
    // Not JSON.
  }
  return { base64: buffer.toString('base64') }
}

/** Returns the bytes of a line; the inverse of `exportedBytes`. */
export const importedBytes = (line: ExportedBytes): Uint8Array =>
  'json' in line ? Buffer.from(JSON.stringify(line.json)) : Buffer.from(line.base64, 'base64')

/** `organization/document/editor`, percent-encoded. */
export const encodeEditorPath = ({ organizationId, documentId, editorId }: DocumentAddress): string =>
  [organizationId, documentId, editorId].map(encodeURIComponent).join('/')
