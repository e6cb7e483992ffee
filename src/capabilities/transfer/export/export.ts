import { errorMessage } from '../../../core/base/errors.ts'
import type { DocumentAddress } from '../../../core/model/address.ts'
import { loadRoom } from '../../../core/rooms/log/load-room.ts'
import { CorruptRecordError, type DocumentLog, type Key } from '../../../core/store/engine.ts'
import { documentKeyPages } from '../../../core/store/pages.ts'
import { openForReading, type StoreLocation } from '../../backups/storage/offline-store.ts'
import { type Progress, StorageError } from '../../backups/storage/storage-error.ts'
import { ExportDirectory, type RichTextFormat, writeDocument } from './document-files.ts'

interface ExportOptions {
  /** Null: all organizations. */
  readonly organizationId: string | null
  /** Format of the files with rich text. */
  readonly format: RichTextFormat
}

export interface Exported {
  readonly documents: number
  /** Total size of the files of documents in bytes. */
  readonly bytes: number
  /** Messages about documents that cannot be read. The export does not contain these documents. */
  readonly damaged: readonly string[]
}

/**
 * Writes the documents of a stopped server as files that people and other programs can read. The files are written to a
 * temporary directory, which is renamed to `target` when the export is complete.
 * @throws StorageError if the target directory is not empty; EngineOpenError
 */
export async function exportStore(
  place: StoreLocation,
  target: string,
  options: ExportOptions,
  onProgress: Progress,
): Promise<Exported> {
  const engine = await openForReading(place)
  try {
    const tree = await ExportDirectory.begin(target)
    try {
      const exported = await new ExportRun(engine.log, tree, options, onProgress).run()
      await tree.name()
      return exported
    } catch (error) {
      await tree.drop()
      if (error instanceof StorageError) throw error
      throw new StorageError(`the export could not be made: ${errorMessage(error)}`, { cause: error })
    }
  } finally {
    await engine.close()
  }
}

/** Maximum number of documents that are read and written at the same time. */
const documentsAtOnce = 8
/** Number of keys of documents in one read. */
const keysAtOnce = 1_000

class ExportRun {
  readonly #log: DocumentLog
  readonly #tree: ExportDirectory
  readonly #options: ExportOptions
  readonly #onProgress: Progress
  readonly #damaged: string[] = []
  #documents = 0
  #bytes = 0

  constructor(log: DocumentLog, tree: ExportDirectory, options: ExportOptions, onProgress: Progress) {
    this.#log = log
    this.#tree = tree
    this.#options = options
    this.#onProgress = onProgress
  }

  async run(): Promise<Exported> {
    await this.#tree.writeLines('documents.jsonl', this.#documentLines())
    return { documents: this.#documents, bytes: this.#bytes, damaged: this.#damaged }
  }

  /** Returns the keys of the documents to export. */
  async #keys(): Promise<readonly Key[]> {
    const { organizationId } = this.#options
    const isExported = (key: Key): boolean =>
      organizationId === null || addressOf(key).organizationId === organizationId
    const keys: Key[] = []
    for await (const page of documentKeyPages(this.#log, [], keysAtOnce))
      keys.push(...page.filter(isExported))
    return keys
  }

  async *#documentLines(): AsyncGenerator<object> {
    this.#onProgress('documents', 0)
    const all = await this.#keys()
    for (let start = 0; start < all.length; start += documentsAtOnce) {
      this.#onProgress('documents', start / all.length)
      const slice = all.slice(start, start + documentsAtOnce)
      const lines = await Promise.all(slice.map((key) => this.#writeDocument(key)))
      for (const line of lines) if (line !== null) yield line
    }
    this.#onProgress('documents', 1)
  }

  /**
   * Writes the files of a document. Returns the line of the document for the list; null if the document is
   * damaged.
   */
  async #writeDocument(key: Key): Promise<object | null> {
    try {
      const { loaded, state } = await loadRoom(this.#log, key, { isBounded: false })
      if (loaded.state !== 'live') throw new Error('its log is gone')
      const address = addressOf(key)
      const written = await writeDocument(this.#tree, address, state.encode(), this.#options.format)
      this.#documents += 1
      this.#bytes += written.bytes
      const { at: lastUpdated, by: lastUpdatedBy } = loaded.changed
      return { address, lastUpdated, lastUpdatedBy, files: written.files }
    } catch (error) {
      if (error instanceof Error && 'syscall' in error) throw error
      this.#damaged.push(
        error instanceof CorruptRecordError
          ? error.message
          : `document ${JSON.stringify(key)} cannot be read: ${errorMessage(error)}`,
      )
      return null
    }
  }
}

/** Converts the key of a log to the address of its document. This function is the inverse of `addressKey`. */
export function addressOf(key: Key): DocumentAddress {
  const [workspaceId = '', apiKey = '', organizationId = '', documentId = '', editorId = ''] = key
  return { workspaceId, apiKey, organizationId, documentId, editorId }
}
