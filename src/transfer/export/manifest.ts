import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { adoptedMax } from '../../engine/log-state.ts'
import { readJson } from '../../json.ts'
import type { DocumentAddress } from '../../model/address.ts'

/**
 * What an export is made of. Its directory holds `export.json`, which names the lists, with their SHA-256; the lists,
 * one JSON object a line, name all other files with theirs.
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
  /** Below the directory of the export, with `/`. */
  readonly file: string
  readonly bytes: number
  /** Hexadecimal. */
  readonly sha256: string
}

/** What a file of a document holds: its whole state (Yjs V1), all of its roots as JSON, or one of them. */
export interface DocumentFile extends FileEntry {
  readonly is: 'update' | 'json' | 'text' | 'xml'
  /** The root. Absent: all of the document. */
  readonly contentKey?: string
}

/** Where the log of a document stood; `epoch` and `head` are in the versions that REST names. */
export interface ExportedLog {
  readonly epoch: number
  readonly head: number
  /** Epoch milliseconds of the last change, and who made it: '' when nobody is known. */
  readonly changedAt: number
  readonly changedBy: string
}

/** A line of `documents.jsonl`. One that was deleted stays so: nobody who has it still brings it back. */
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

/** Bytes that are stored: as JSON where they are exactly what `JSON.stringify` makes of it, else base64. */
export type ExportedBytes = { readonly json: unknown } | { readonly base64: string }

/** A line of `admin.jsonl`: something of a partition of keys and values. */
export type ValueLine = ExportedBytes & {
  readonly part: readonly string[]
  readonly key: readonly string[]
  /** Members of the JSON that were left out: an import makes new ones. */
  readonly secrets?: readonly string[]
}

/** A line of `blobs.jsonl`: the content of a version. */
export interface BlobLine extends FileEntry {
  readonly key: readonly string[]
}

/** A line of `jobs.jsonl`: background work that waits. `buried`: put aside for good, to be read only. */
export type JobLine = ExportedBytes & {
  readonly is: 'job' | 'buried'
  readonly queue: string
  readonly id: string
  /** Epoch milliseconds from which on it is due. */
  readonly at: number
  /** Of the last attempt, where there is none to come. */
  readonly error?: string
}

export interface ExportSummary {
  readonly format: typeof exportFormat
  /** Of Weft. */
  readonly version: string
  /** ISO 8601. */
  readonly madeAt: string
  /** `all`, or documents without anything else. */
  readonly holds: 'all' | 'documents'
  /** Null: of all organizations. */
  readonly organizationId: string | null
  readonly secrets: 'left out' | 'included'
  /** The file `credentials.json` of the data directory, with secrets. */
  readonly credentials: FileEntry | null
  readonly lists: Readonly<Record<ListKind, FileEntry & { readonly lines: number }>>
}

export const sha256Of = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('hex')

/** The text of `export.json`, which ends with its own checksum. */
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

/** Null for what `encodeSummary` does not make. */
export function decodeSummary(json: string): ExportSummary | null {
  try {
    const { sha256: _, ...summary } = readJson(summarySchema, json)
    return encodeSummary(summary) === json ? summary : null
  } catch {
    return null
  }
}

/** Bytes as a line has them. */
export function exportedBytes(bytes: Uint8Array): ExportedBytes {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  try {
    const json: unknown = JSON.parse(buffer.toString())
    if (Buffer.from(JSON.stringify(json)).equals(buffer)) return { json }
  } catch {
    // No JSON.
  }
  return { base64: buffer.toString('base64') }
}

/** What `exportedBytes` was given. */
export const importedBytes = (line: ExportedBytes): Uint8Array =>
  'json' in line ? Buffer.from(JSON.stringify(line.json)) : Buffer.from(line.base64, 'base64')

/** `organization/document/editor`, percent-encoded. */
export const encodeEditorPath = ({ organizationId, documentId, editorId }: DocumentAddress): string =>
  [organizationId, documentId, editorId].map(encodeURIComponent).join('/')
