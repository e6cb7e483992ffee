import { createHash } from 'node:crypto'
import { readJson } from '../../../core/base/json.ts'
import * as s from '../../../core/base/schema.ts'
import type { DocumentAddress } from '../../../core/model/address.ts'
import { adoptedMax } from '../../../core/store/log-state.ts'

/**
 * Name and version of the export format. An export is a directory. Its file `export.json` contains the names
 * and the SHA-256 of the lists. Each list has one JSON object per line, and contains the names and the
 * SHA-256 of the other files.
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

export interface FileEntry {
  /** Path of the file relative to the directory of the export, with `/` as separator. */
  readonly file: string
  readonly bytes: number
  /** SHA-256 of the file, in hex. */
  readonly sha256: string
}

/** Formats in which an export writes rich text, and the file extension of each. */
export const richTextExtensions = { xml: 'xml', markdown: 'md', html: 'html', prosemirror: 'json' } as const
export type RichTextFormat = keyof typeof richTextExtensions
export const richTextFormats = Object.keys(richTextExtensions) as readonly RichTextFormat[]

export const documentFileTypes = ['update', 'json', 'text', ...richTextFormats] as const

/**
 * A file with content of a document. It contains the complete state (Yjs V1), all roots as JSON, or one root.
 */
export interface DocumentFile extends FileEntry {
  readonly is: (typeof documentFileTypes)[number]
  /** Name of the root in the file; absent if the file contains the whole document. */
  readonly contentKey?: string
}

/** Position of a document's log. The versions in the REST API consist of `epoch` and `head`. */
export interface ExportedLog {
  readonly epoch: number
  readonly head: number
  /**
   * Time of the last change in epoch milliseconds. `changedBy` is the id of the user who made the change; ''
   * if the user is not known.
   */
  readonly changedAt: number
  readonly changedBy: string
}

/**
 * A line of `documents.jsonl`. A deleted document also has a line, so that it stays deleted after an import.
 * Clients that still have the deleted document then cannot restore it.
 */
export type DocumentLine =
  | {
      readonly state: 'live'
      readonly address: DocumentAddress
      readonly log: ExportedLog
      /** Yjs state vector (V1) in base64. */
      readonly stateVector: string
      readonly files: readonly DocumentFile[]
      /** The file with the authors of the changes; absent if they are unknown. */
      readonly attribution?: FileEntry
    }
  | { readonly state: 'deleted'; readonly address: DocumentAddress; readonly epoch: number }

export type LiveLine = Extract<DocumentLine, { state: 'live' }>

/** Type of the lines of each list. */
export interface ManifestLine {
  readonly documents: DocumentLine
  readonly values: ValueLine
  readonly blobs: BlobLine
  readonly jobs: JobLine
}

/**
 * Bytes of a stored value. They are written as JSON if `JSON.stringify` returns exactly the same bytes, and
 * as base64 otherwise.
 */
export type ExportedBytes = { readonly json: unknown } | { readonly base64: string }

/** A line of `admin.jsonl`: one key of a partition with its value. */
export type ValueLine = ExportedBytes & {
  readonly part: readonly string[]
  readonly key: readonly string[]
  /** Names of the secret members that the export omits. An import generates new values for these members. */
  readonly secrets?: readonly string[]
}

/** A line of `blobs.jsonl`: the content of a version. */
export interface BlobLine extends FileEntry {
  readonly key: readonly string[]
}

/**
 * A line of `jobs.jsonl`: a waiting background job (`job`) or a dead letter (`buried`). An import ignores
 * dead letters.
 */
export type JobLine = ExportedBytes & {
  readonly is: 'job' | 'buried'
  readonly queue: string
  readonly id: string
  /** Epoch milliseconds when the job is due. */
  readonly at: number
  /** Error of the last attempt of a dead letter. */
  readonly error?: string
}

export interface ExportSummary {
  readonly format: typeof exportFormat
  /** Version of Weft that made the export. */
  readonly version: string
  /** Time of the export as ISO 8601. */
  readonly madeAt: string
  /** Whether the export contains `all` data or `documents` only. */
  readonly holds: 'all' | 'documents'
  /** Id of the organization if the export contains only one; null if it contains all organizations. */
  readonly organizationId: string | null
  readonly secrets: 'left out' | 'included'
  /**
   * Entry of the file `credentials.json`, which contains secrets. The file comes from the data directory or
   * the cluster. Null if the export has no such file.
   */
  readonly credentials: FileEntry | null
  readonly lists: Readonly<Record<ListKind, FileEntry & { readonly lines: number }>>
}

export const sha256Of = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('hex')

/** Returns the text of `export.json`. The text ends with a checksum of the summary. */
export function encodeSummary(summary: ExportSummary): string {
  const sha256 = sha256Of(JSON.stringify(summary))
  return `${JSON.stringify({ ...summary, sha256 }, null, 2)}\n`
}

/** Schema of a string without lone surrogates, which UTF-8 cannot encode. */
export const wellFormed = s.pattern(/^\P{Surrogate}*$/u)
const count = s.integer(0, adoptedMax)

/** Members of the schema of a `FileEntry`. */
export const fileMembers = { file: wellFormed, bytes: count, sha256: s.pattern(/^[0-9a-f]{64}$/) }

const listSchema = (kind: ListKind) =>
  s.object({ ...fileMembers, file: s.literal(listNames[kind]), lines: count })

const summarySchema = s.object({
  format: s.literal(exportFormat),
  version: s.string,
  madeAt: s.string,
  holds: s.choice(['all', 'documents']),
  organizationId: s.orNull(wellFormed),
  secrets: s.choice(['left out', 'included']),
  credentials: s.orNull(s.object(fileMembers)),
  lists: s.object({
    documents: listSchema('documents'),
    values: listSchema('values'),
    blobs: listSchema('blobs'),
    jobs: listSchema('jobs'),
  }),
  sha256: s.string,
})

/** Parses `export.json`. Returns null if the text is not exactly the text that `encodeSummary` returns. */
export function decodeSummary(json: string): ExportSummary | null {
  try {
    const { sha256: _, ...summary } = readJson(summarySchema, json)
    return encodeSummary(summary) === json ? summary : null
  } catch {
    return null
  }
}

/** Converts bytes to the form that a line of an export uses. */
export function exportedBytes(bytes: Uint8Array): ExportedBytes {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  try {
    const json: unknown = JSON.parse(buffer.toString())
    if (Buffer.from(JSON.stringify(json)).equals(buffer)) return { json }
  } catch {
    // The bytes are not JSON.
  }
  return { base64: buffer.toString('base64') }
}

/** Returns the bytes that a line contains. This function is the inverse of `exportedBytes`. */
export const importedBytes = (line: ExportedBytes): Uint8Array =>
  'json' in line ? Buffer.from(JSON.stringify(line.json)) : Buffer.from(line.base64, 'base64')

/** Returns the path `organization/document/editor` of an address. Each part is percent-encoded. */
export const encodeEditorPath = ({ organizationId, documentId, editorId }: DocumentAddress): string =>
  [organizationId, documentId, editorId].map(encodeURIComponent).join('/')
