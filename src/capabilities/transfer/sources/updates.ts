import type { Dirent } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { errorMessage } from '../../../core/base/errors.ts'
import { readJson } from '../../../core/base/json.ts'
import * as s from '../../../core/base/schema.ts'
import type { UpdateEncoding } from '../../../core/content/read-document.ts'
import { convertV2 } from '../../../core/update/convert-v2.ts'
import { MalformedUpdateError } from '../../../core/update/malformed.ts'
import { StorageError } from '../../backups/storage/storage-error.ts'
import type { ImportSource, StoredDocument } from '../import-documents.ts'
import { readLines } from '../text-lines.ts'

/** One stored update of a document, or the reason why an entry of the source cannot be read. */
export type StoredUpdate =
  | { readonly name: string; readonly update: Uint8Array }
  | Extract<StoredDocument, { readonly problem: string }>

/** The reason to reject a document whose updates exceed the limit. */
export const tooLarge = (bytesMax: number): string => `its updates have more than ${bytesMax} bytes`

/**
 * Yields the documents of a source whose adjacent entries belong to one document. Does not keep the updates of a
 * document in memory that has too many.
 * @param bytesMax maximum bytes of the updates of one document
 */
export async function* collectUpdates(
  entries: AsyncIterable<StoredUpdate>,
  bytesMax: number,
): AsyncGenerator<StoredDocument> {
  let current: { readonly name: string; readonly updates: Uint8Array[]; bytes: number } | null = null
  const collected = ({ name, updates, bytes }: NonNullable<typeof current>): StoredDocument =>
    bytes <= bytesMax ? { name, updates } : { name, problem: tooLarge(bytesMax) }
  for await (const entry of entries) {
    const isProblem = 'problem' in entry
    if (current !== null && (isProblem || entry.name !== current.name)) {
      yield collected(current)
      current = null
    }
    if (isProblem) {
      yield entry
      continue
    }
    current ??= { name: entry.name, updates: [], bytes: 0 }
    current.bytes += entry.update.length
    if (current.bytes <= bytesMax) current.updates.push(entry.update)
    else current.updates.length = 0
  }
  if (current !== null) yield collected(current)
}

const linesEnding = /\.(jsonl|ndjson)$/
/** File extensions of files with updates. An extension is not part of the document name. */
const updateEnding = /\.(bin|yjs|update)$/

/**
 * Opens files that contain updates of Yjs. `path` is one of these:
 * - A folder. Each file in it contains one update. The path of the file without `.bin`, `.yjs` or `.update`
 *   is the name of the document.
 * - A single file with one update.
 * - A file of JSON lines (`.jsonl`, `.ndjson`). Each line has a `name` and an `update` (base64). The lines of
 *   one document must be adjacent.
 * @param bytesMax maximum bytes of the updates of one document
 * @throws StorageError
 */
export async function openUpdates(
  path: string,
  bytesMax: number,
  encoding: UpdateEncoding = 'v1',
): Promise<ImportSource> {
  const source = await openFiles(path, bytesMax)
  return encoding === 'v1' ? source : { ...source, documents: () => converted(source.documents()) }
}

/** Converts the updates of documents from the encoding V2. */
async function* converted(documents: AsyncIterable<StoredDocument>): AsyncGenerator<StoredDocument> {
  for await (const document of documents) yield 'problem' in document ? document : convertedDocument(document)
}

function convertedDocument({ name, updates }: CollectedUpdates): StoredDocument {
  try {
    return { name, updates: updates.map(convertV2) }
  } catch (error) {
    if (error instanceof MalformedUpdateError)
      return { name, problem: `an update is malformed: ${error.message}` }
    throw error
  }
}

async function openFiles(path: string, bytesMax: number): Promise<ImportSource> {
  const found = await stat(path).catch((error: unknown) => {
    throw new StorageError(`${path} cannot be read: ${errorMessage(error)}`)
  })
  if (found.isDirectory()) return sourceOfFiles(path, await filesIn(path), bytesMax)
  if (!found.isFile()) throw new StorageError(`${path} cannot be read: it is not a file`)
  if (!linesEnding.test(path)) return sourceOfFiles(join(path, '..'), [{ path, problem: null }], bytesMax)
  return {
    count: () => countLines(path),
    documents: () => collectUpdates(updatesOfLines(path), bytesMax),
    close: () => Promise.resolve(),
  }
}

/** A file to read. If the file is not read, `problem` is the reason, so that no file is skipped silently. */
interface Found {
  readonly path: string
  readonly problem: string | null
}

function sourceOfFiles(folder: string, files: readonly Found[], bytesMax: number): ImportSource {
  return {
    count: () => Promise.resolve(files.length),
    documents: () => documentsOfFiles(folder, files, bytesMax),
    close: () => Promise.resolve(),
  }
}

/** Returns the files of a folder and its subfolders, except for files whose name starts with a period. */
async function filesIn(folder: string): Promise<readonly Found[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    throw new StorageError(`${folder} cannot be read: ${errorMessage(error)}`)
  })
  return entries
    .filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.'))
    .map((entry) => ({ path: join(entry.parentPath, entry.name), problem: kindProblem(entry) }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}

function kindProblem(entry: Dirent): string | null {
  if (entry.isFile()) return null
  return entry.isSymbolicLink()
    ? 'it is a symbolic link, which is not followed; name a copy'
    : 'it is not a file'
}

async function* documentsOfFiles(
  folder: string,
  files: readonly Found[],
  bytesMax: number,
): AsyncGenerator<StoredDocument> {
  for (const { path, problem } of files) {
    const name = relative(folder, path).split(sep).join('/').replace(updateEnding, '')
    yield problem === null ? await documentOf(name, path, bytesMax) : { name, problem }
  }
}

async function documentOf(name: string, path: string, bytesMax: number): Promise<StoredDocument> {
  try {
    if ((await stat(path)).size > bytesMax) return { name, problem: tooLarge(bytesMax) }
    return { name, updates: [await readFile(path)] }
  } catch (error) {
    return { name, problem: `its file cannot be read: ${errorMessage(error)}` }
  }
}

/** Returns the number of lines that are not empty. The number of documents is not larger. */
async function countLines(path: string): Promise<number> {
  let lines = 0
  for await (const { text } of readLines(path)) if (text.trim() !== '') lines += 1
  return lines
}

async function* updatesOfLines(path: string): AsyncGenerator<StoredUpdate> {
  for await (const { number, text } of readLines(path))
    if (text.trim() !== '') yield entryOf(text) ?? { name: `line ${number}`, problem: noEntry }
}

type CollectedUpdates = Extract<StoredDocument, { readonly updates: unknown }>

const noEntry = 'it is not JSON with a name and an update in base64'

function entryOf(line: string): { readonly name: string; readonly update: Uint8Array } | null {
  try {
    const { name, update } = readJson(lineSchema, line)
    return base64.test(update) ? { name, update: Buffer.from(update, 'base64') } : null
  } catch {
    return null
  }
}

const lineSchema = s.object({ name: s.string, update: s.string })

const base64 = /^[A-Za-z0-9+/]*={0,2}$/
