import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorMessage } from '../../../core/base/errors.ts'
import { type Progress, StorageError } from '../../backups/storage/storage-error.ts'
import { fileChunks, readLines, readTextFile } from '../text-lines.ts'
import {
  decodeSummary,
  type ExportSummary,
  type FileEntry,
  type ListKind,
  type LiveLine,
  listNames,
  type ManifestLine,
  sha256Of,
  summaryName,
} from './manifest.ts'
import { readManifestLine } from './manifest-validation.ts'

const documentFilesOf = ({ files, attribution }: LiveLine): readonly FileEntry[] =>
  attribution === undefined ? files : [...files, attribution]

/** Maximum number of damaged files that an error lists. */
const namedMax = 5

/** Reads an export that has been checked: every file has the checksum that the export lists for it. */
export class ExportReader {
  readonly summary: ExportSummary
  readonly #directory: string

  private constructor(directory: string, summary: ExportSummary) {
    this.#directory = directory
    this.summary = summary
  }

  /** Reads and checks the whole export. @throws StorageError that lists the damaged or missing files */
  static async check(directory: string, onProgress: Progress): Promise<ExportReader> {
    const path = join(directory, summaryName)
    const text = await readTextFile(path).catch((error: unknown) => {
      throw new StorageError(`${directory} is not a complete Weft export: ${errorMessage(error)}`)
    })
    const summary = decodeSummary(text)
    if (summary === null) throw new StorageError(`${summaryName} is damaged, or of another version`)
    const files = new ExportReader(directory, summary)
    await files.#check(onProgress)
    return files
  }

  /** Name that identifies this export. */
  get name(): string {
    return sha256Of(JSON.stringify(this.summary))
  }

  /** Yields the lines of a list in order. @throws StorageError if a line is invalid */
  async *lines<Kind extends ListKind>(kind: Kind): AsyncGenerator<ManifestLine[Kind]> {
    for await (const { number, text } of readLines(join(this.#directory, listNames[kind]))) {
      const line = readManifestLine(kind, text)
      if (line === null)
        throw new StorageError(`${listNames[kind]}, line ${number}: it is not a line of a Weft export`)
      yield line
    }
  }

  /** Reads a file. @throws StorageError if it has changed since the export was checked */
  async read({ file, sha256 }: FileEntry): Promise<Uint8Array> {
    const bytes = await readFile(join(this.#directory, file)).catch((error: unknown) => {
      throw new StorageError(`${file} cannot be read (${errorMessage(error)})`)
    })
    if (sha256Of(bytes) !== sha256) throw new StorageError(`${file} has changed since it was checked`)
    return bytes
  }

  async #check(onProgress: Progress): Promise<void> {
    const { lists, credentials } = this.summary
    // Checks the lists first, because they contain the checksums of the other files.
    expectSound(await this.#damagedOf([...Object.values(lists), ...(credentials ? [credentials] : [])]))
    const total = Object.values(lists).reduce((sum, { lines }) => sum + lines, 0)
    const damaged: string[] = []
    let done = 0
    for await (const line of this.#named()) {
      onProgress('check', done++ / total)
      damaged.push(...(await this.#damagedOf(line)))
    }
    expectSound(damaged)
  }

  async *#named(): AsyncGenerator<readonly FileEntry[]> {
    for await (const line of this.lines('documents')) yield line.state === 'live' ? documentFilesOf(line) : []
    for await (const line of this.lines('blobs')) yield [line]
    // Iterates over these lines only to check that they are valid. They contain no names of files.
    for await (const _ of this.lines('values')) yield []
    for await (const _ of this.lines('jobs')) yield []
  }

  async #damagedOf(entries: readonly FileEntry[]): Promise<readonly string[]> {
    const problems = await Promise.all(entries.map((entry) => this.#problemOf(entry)))
    return problems.filter((problem) => problem !== null)
  }

  /** Returns the problem as a sentence if the file does not match its entry; otherwise null. */
  async #problemOf({ file, bytes, sha256 }: FileEntry): Promise<string | null> {
    if (file.split('/').includes('..')) return `${JSON.stringify(file)} is not a file name of an export`
    const hash = createHash('sha256')
    let read = 0
    try {
      for await (const chunk of fileChunks(join(this.#directory, file))) {
        hash.update(chunk)
        read += chunk.length
      }
    } catch (error) {
      return `${file} cannot be read (${errorMessage(error)})`
    }
    if (read !== bytes) return `${file} is damaged: it has ${read} bytes, not ${bytes}`
    return hash.digest('hex') === sha256 ? null : `${file} is damaged: its checksum is wrong`
  }
}

function expectSound(damaged: readonly string[]): void {
  if (damaged.length === 0) return
  const more = damaged.length > namedMax ? `; and ${damaged.length - namedMax} more` : ''
  throw new StorageError(
    `nothing is written, because the export is damaged: ${damaged.slice(0, namedMax).join('; ')}${more}`,
  )
}
