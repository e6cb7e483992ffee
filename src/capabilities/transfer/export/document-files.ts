import { createHash, randomBytes } from 'node:crypto'
import { readdir, rename, rm, rmdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import * as Y from 'yjs'
import { ApiError, errorMessage } from '../../../core/base/errors.ts'
import { makeDirectory } from '../../../core/config/files/make-directory.ts'
import { writeNewFile } from '../../../core/config/files/write-new-file.ts'
import { contentTypes } from '../../../core/content/content-types.ts'
import { readRootAs } from '../../../core/content/read-document.ts'
import { createDoc } from '../../../core/content/yjs/create-doc.ts'
import { type KnownKind, rootKind } from '../../../core/content/yjs/root-kind.ts'
import type { DocumentAddress } from '../../../core/model/address.ts'
import { fsyncDirectory } from '../../backups/storage/offline-store.ts'
import { StorageError } from '../../backups/storage/storage-error.ts'

/**
 * Writes the files of an export into a temporary directory. The temporary directory is next to the final
 * directory.
 */
export class ExportDirectory {
  readonly #path: string
  readonly #target: string

  private constructor(target: string, path: string) {
    this.#target = target
    this.#path = path
  }

  /**
   * Creates the temporary directory.
   * @throws StorageError if `directory` is not empty or cannot be created
   */
  static async begin(directory: string): Promise<ExportDirectory> {
    const target = resolve(directory)
    const names = await readdir(target).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []
      throw new StorageError(`${directory} cannot be used: ${errorMessage(error)}`)
    })
    if (names.length > 0) throw new StorageError(`${directory} is not empty: export into a new directory`)
    const path = join(dirname(target), `${basename(target)}.${randomBytes(4).toString('hex')}.part`)
    await makeDirectory(path)
    return new ExportDirectory(target, path)
  }

  /**
   * Writes a file that only its owner can read. Returns its size in bytes.
   * @param file path relative to the directory of the export, with `/` as separator
   */
  async write(file: string, content: Uint8Array | string): Promise<number> {
    await writeNewFile(await this.#pathOf(file), content)
    return Buffer.byteLength(content)
  }

  /** Writes a file of JSON objects, one per line. */
  async writeLines(file: string, lines: AsyncIterable<object>): Promise<void> {
    await writeNewFile(await this.#pathOf(file), linesAsText(lines))
  }

  /** Returns the path of a file. Creates its directory if it is missing. */
  async #pathOf(file: string): Promise<string> {
    const path = join(this.#path, file)
    await makeDirectory(dirname(path))
    return path
  }

  /** Renames the temporary directory to the final name. @throws StorageError */
  async name(): Promise<void> {
    await fsyncDirectory(this.#path)
    // Removes the target directory if it is empty. `rmdir` fails if the directory contains files by now.
    await rmdir(this.#target).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT')
        throw new StorageError(`${this.#target} cannot be made: ${errorMessage(error)}`)
    })
    await rename(this.#path, this.#target)
    await fsyncDirectory(dirname(this.#target))
  }

  /** Removes all files of the unfinished export. */
  async drop(): Promise<void> {
    await rm(this.#path, { recursive: true, force: true })
  }
}

/** Number of characters at which collected lines are written to the file. */
const bufferedMax = 1024 * 1024

/** Yields the JSON of each object as a line, many lines at a time. */
async function* linesAsText(objects: AsyncIterable<object>): AsyncGenerator<string> {
  let text = ''
  for await (const object of objects) {
    text += `${JSON.stringify(object)}\n`
    if (text.length < bufferedMax) continue
    yield text
    text = ''
  }
  yield text
}

/** Formats in which an export writes rich text, and the file extension of each. */
const richTextExtensions = { xml: 'xml', markdown: 'md', html: 'html', prosemirror: 'json' } as const
export type RichTextFormat = keyof typeof richTextExtensions
export const richTextFormats = Object.keys(richTextExtensions) as readonly RichTextFormat[]

/** A file with content of a document. */
interface DocumentFile {
  /** Path relative to the directory of the export, with `/` as separator. */
  readonly file: string
  /** The complete state (Yjs V1), all roots as JSON, or the format of one root. */
  readonly is: 'update' | 'json' | 'text' | RichTextFormat
  /** Name of the root in the file; absent if the file contains the whole document. */
  readonly contentKey?: string
}

/**
 * A root in the form of the response to `POST /v2/crdt/get`. For a text, `delta` also contains the
 * formatting.
 */
interface ExportedRoot {
  readonly contentKey: string
  readonly type: KnownKind
  readonly data: unknown
  /** The text with its formatting as a Quill delta. */
  readonly delta?: unknown
}

/** Returns all roots that are not empty and whose type is one of the content types. */
export function exportedRoots(doc: Y.Doc): readonly ExportedRoot[] {
  const roots: ExportedRoot[] = []
  for (const contentKey of [...doc.share.keys()].sort()) {
    const kind = rootKind(doc, contentKey)
    if (kind === 'none') continue
    try {
      const data = contentTypes[kind]?.read(doc, contentKey)
      const delta = kind === 'text' ? { delta: readRootAs(doc, 'delta', contentKey).data } : {}
      roots.push({ contentKey, type: kind, data, ...delta })
    } catch (error) {
      // Skips a root that no content type can read, or whose content is too long for a string. The exported
      // update contains this root too.
      if (!(error instanceof ApiError || isTooLong(error))) throw error
    }
  }
  return roots
}

/** Returns whether the error means that a string exceeds the maximum length of the JavaScript engine. */
const isTooLong = (error: unknown): boolean => error instanceof RangeError

/**
 * Returns the roots as JSON; null if the JSON is too long for a string. The exported update contains the same
 * data.
 */
function jsonOf(roots: readonly ExportedRoot[]): string | null {
  try {
    return `${JSON.stringify(roots, null, 2)}\n`
  } catch (error) {
    if (isTooLong(error)) return null
    throw error
  }
}

/**
 * Writes the files of a document: its complete state as an update, and files that people can read without
 * Yjs. Returns the files and their total size in bytes.
 * @param format format of the files with rich text
 */
export async function writeDocument(
  tree: ExportDirectory,
  address: DocumentAddress,
  update: Uint8Array,
  format: RichTextFormat,
): Promise<{ readonly files: readonly DocumentFile[]; readonly bytes: number }> {
  const doc = createDoc()
  const files: DocumentFile[] = []
  let bytes = 0
  const write = async (name: string, data: Uint8Array | string, shown: Omit<DocumentFile, 'file'>) => {
    const file = `${folderOf(address)}/${name}`
    bytes += await tree.write(file, data)
    files.push({ file, ...shown })
  }
  try {
    Y.applyUpdate(doc, update)
    const roots = exportedRoots(doc)
    await write('state.bin', update, { is: 'update' })
    const json = jsonOf(roots)
    if (json !== null) await write('content.json', json, { is: 'json' })
    for (const [index, root] of roots.entries()) {
      const { contentKey, type } = root
      // For roots of other types, `content.json` is enough.
      if (type !== 'xml' && type !== 'text') continue
      const is = type === 'xml' ? format : type
      const data = fileContent(doc, root, is)
      if (data === null) continue
      const extension = is === 'text' ? 'txt' : richTextExtensions[is]
      await write(`${index + 1}-${readable(contentKey)}.${extension}`, data, { is, contentKey })
    }
    return { files, bytes }
  } finally {
    doc.destroy()
  }
}

/**
 * Returns the content of the file of a root; null if the root is too large for the format. `content.json` and
 * the update contain this root too.
 */
function fileContent(doc: Y.Doc, root: ExportedRoot, format: string): string | null {
  try {
    const data = format === root.type ? root.data : readRootAs(doc, format, root.contentKey).data
    return typeof data === 'string' ? data : `${JSON.stringify(data, null, 2)}\n`
  } catch (error) {
    if (error instanceof ApiError || isTooLong(error)) return null
    throw error
  }
}

/**
 * Number of characters of each digest in a folder name. Names with this number of characters are distinct in
 * practice.
 */
const digestLength = 12
/** Maximum number of characters of an id in the name of a folder. */
const readableLength = 40

/**
 * Returns the name of a document's folder. The name contains the ids, shortened for people to read, and
 * digests of the address, which make the name unique.
 */
function folderOf(address: DocumentAddress): string {
  const { workspaceId, apiKey, organizationId, documentId, editorId } = address
  const owner = digestOf([workspaceId, apiKey, organizationId])
  const own = digestOf([documentId, editorId])
  const names = `${readable(documentId)}.${readable(editorId)}`
  return `documents/${readable(organizationId)}-${owner}/${names}-${own}`
}

const digestOf = (ids: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(ids)).digest('hex').slice(0, digestLength)

const readable = (id: string): string => id.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, readableLength)
