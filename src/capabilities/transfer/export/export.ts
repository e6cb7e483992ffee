import { errorMessage } from '../../../core/base/errors.ts'
import type { DocumentAddress } from '../../../core/model/address.ts'
import { loadRoom } from '../../../core/rooms/log/load-room.ts'
import { CorruptRecordError, type Key } from '../../../core/store/engine.ts'
import { type OfflineStore, openForReading, type StoreLocation } from '../../backups/storage/offline-store.ts'
import { type Progress, StorageError } from '../../backups/storage/storage-error.ts'
import { type RichTextFormat, writeDocument } from './document-files.ts'
import { ExportDirectory } from './export-directory.ts'
import { isExported, recordLine } from './exported-records.ts'

interface ExportOptions {
  /** Null: all organizations. */
  readonly organizationId: string | null
  /** Format of the files with rich text. */
  readonly format: RichTextFormat
}

export interface Exported {
  readonly documents: number
  readonly records: number
  /** Total size of the files of documents in bytes. */
  readonly bytes: number
  /** Messages about documents that cannot be read. The export does not contain these documents. */
  readonly damaged: readonly string[]
}

/**
 * Writes the documents and the records of a stopped server as files that people and other programs can read. The files
 * are written to a temporary directory, which is renamed to `target` when the export is complete.
 * @throws StorageError if the target directory is not empty; EngineOpenError; CorruptRecordError if a damaged
 * record is not part of a document
 */
export async function exportStore(
  place: StoreLocation,
  target: string,
  options: ExportOptions,
  onProgress: Progress,
): Promise<Exported> {
  const store = await openForReading(place)
  try {
    const tree = await ExportDirectory.begin(target)
    try {
      const exported = await new ExportRun(store, tree, options, onProgress).run()
      await tree.name()
      return exported
    } catch (error) {
      await tree.drop()
      if (error instanceof StorageError || error instanceof CorruptRecordError) throw error
      throw new StorageError(`the export could not be made: ${errorMessage(error)}`, { cause: error })
    }
  } finally {
    await store.close()
  }
}

/** Maximum number of documents that are read and written at the same time. */
const documentsAtOnce = 8

class ExportRun {
  readonly #store: OfflineStore
  readonly #tree: ExportDirectory
  readonly #options: ExportOptions
  readonly #onProgress: Progress
  readonly #documents: Key[] = []
  readonly #damaged: string[] = []
  #records = 0
  #bytes = 0

  constructor(store: OfflineStore, tree: ExportDirectory, options: ExportOptions, onProgress: Progress) {
    this.#store = store
    this.#tree = tree
    this.#options = options
    this.#onProgress = onProgress
  }

  async run(): Promise<Exported> {
    await this.#tree.writeLines('admin.jsonl', this.#recordLines())
    await this.#tree.writeLines('documents.jsonl', this.#documentLines())
    return {
      documents: this.#documents.length - this.#damaged.length,
      records: this.#records,
      bytes: this.#bytes,
      damaged: this.#damaged,
    }
  }

  /** Yields the lines of the records. Collects the keys of the documents in `#documents`. */
  async *#recordLines(): AsyncGenerator<object> {
    const { organizationId } = this.#options
    this.#onProgress('records', 0)
    for await (const entry of this.#store.entries()) {
      if (entry.is === 'value' && isExported(entry, organizationId)) {
        const line = recordLine(entry)
        if (line === null) continue
        this.#records += 1
        yield line
      }
      if (entry.is !== 'document' || entry.state === 'deleted') continue
      if (organizationId === null || entry.key[2] === organizationId) this.#documents.push(entry.key)
    }
  }

  async *#documentLines(): AsyncGenerator<object> {
    const all = this.#documents
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
      const { loaded, state } = await loadRoom(this.#store.engine.log, key, { isBounded: false })
      if (loaded.state !== 'live') throw new Error('its log is gone')
      const address = addressOf(key)
      const written = await writeDocument(this.#tree, address, state.encode(), this.#options.format)
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
