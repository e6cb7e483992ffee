import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Clock } from '../../../core/base/clock.ts'
import { errorMessage } from '../../../core/base/errors.ts'
import { readPackageVersion } from '../../../core/base/package-version.ts'
import { tenantKeys, tenantPart } from '../../../core/directory/organizations/organization-keys.ts'
import { tenantOfSchemas } from '../../../core/directory/schemas/schema-service.ts'
import { AttributionSetting } from '../../../core/directory/tenants/attribution-setting.ts'
import { readClusterCredentials } from '../../../core/directory/tenants/cluster-credentials.ts'
import { credentialsPath } from '../../../core/directory/tenants/credentials-file.ts'
import { TenantStore } from '../../../core/directory/tenants/tenant-store.ts'
import type { DocumentAddress } from '../../../core/model/address.ts'
import { loadRoom } from '../../../core/rooms/log/load-room.ts'
import { compactedAttribution } from '../../../core/rooms/log/read-attribution.ts'
import { withRecordName } from '../../../core/store/damaged-record.ts'
import { CorruptRecordError, type Key } from '../../../core/store/engine.ts'
import type { StoredEntry } from '../../../core/store/stored-entry.ts'
import { ObjectPlace } from '../../backups/objects/object-place.ts'
import { readStoredBlob } from '../../backups/objects/read-stored-blob.ts'
import type { SealedObjects } from '../../backups/objects/sealed-objects.ts'
import {
  directoryOf,
  type OfflineStore,
  openForReading,
  type StoreLocation,
} from '../../backups/storage/offline-store.ts'
import { type Progress, StorageError } from '../../backups/storage/storage-error.ts'
import { writeDocument } from './document-files.ts'
import { ExportDirectory, type JsonLinesWriter } from './export-directory.ts'
import { type ExportSelection, isSelected } from './export-selection.ts'
import {
  type DocumentLine,
  encodeSummary,
  exportedBytes,
  exportFormat,
  type FileEntry,
  type ListKind,
  type RichTextFormat,
  sha256Of,
  summaryName,
  type ValueLine,
} from './manifest.ts'
import { redactSecrets } from './redact-secrets.ts'

export interface ExportOptions extends ExportSelection {
  readonly secrets: 'left out' | 'included'
  /** Format of the files with rich text. Default: `xml`. */
  readonly format?: RichTextFormat | undefined
  /** Object storage of saved versions; null: an export fails if a content is there. */
  readonly objects?: SealedObjects | null
  readonly clock: Clock
}

export interface Exported {
  readonly documents: number
  /** Number of deleted documents in the export. */
  readonly deleted: number
  /** Number of exported records. Records are keys with their values, contents of versions, and jobs. */
  readonly records: number
  /** Total size of the files of documents in bytes. */
  readonly bytes: number
  /** Messages about documents that cannot be read. The export does not contain these documents. */
  readonly damaged: readonly string[]
}

/**
 * Exports the data of a stopped server to files with open formats. The files are written to a temporary
 * directory, which is renamed to `target` when the export is complete.
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
      const exported = await new ExportRun(store, tree, options, onProgress).run(directoryOf(place))
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

type DocumentEntry = Extract<StoredEntry, { is: 'document' }>

/** Maximum number of documents that are read and written at the same time. */
const documentsAtOnce = 8

class ExportRun {
  readonly #store: OfflineStore
  readonly #tree: ExportDirectory
  readonly #options: ExportOptions
  readonly #onProgress: Progress
  readonly #attribution: AttributionSetting
  readonly #documents: DocumentEntry[] = []
  readonly #damaged: string[] = []
  #bytes = 0

  constructor(store: OfflineStore, tree: ExportDirectory, options: ExportOptions, onProgress: Progress) {
    this.#store = store
    this.#attribution = new AttributionSetting(new TenantStore(store.engine.kv), options.clock)
    this.#tree = tree
    this.#options = options
    options.objects?.belongTo(new ObjectPlace(store.engine.kv))
    this.#onProgress = onProgress
  }

  async run(directory: string): Promise<Exported> {
    const lists = await forEachList((kind) => this.#tree.list(kind))
    try {
      await this.#writeRecords(lists)
      await this.#writeDocuments(lists.documents)
      const entries = await forEachList((kind) => lists[kind].end())
      const credentials = await this.#writeCredentials(directory)
      await this.#writeSummary(entries, credentials)
      const deleted = this.#documents.filter(({ state }) => state === 'deleted').length
      return {
        documents: entries.documents.lines - deleted,
        deleted,
        records: entries.values.lines + entries.blobs.lines + entries.jobs.lines,
        bytes: this.#bytes,
        damaged: this.#damaged,
      }
    } finally {
      await Promise.all(Object.values(lists).map((list) => list.close().catch(() => undefined)))
    }
  }

  /** Writes all records except for documents. Collects the keys of the documents in `#documents`. */
  async #writeRecords(lists: Readonly<Record<ListKind, JsonLinesWriter>>): Promise<void> {
    this.#onProgress('records', 0)
    for await (const entry of this.#store.entries()) {
      if (!isSelected(entry, this.#options) || !(await this.#isOfOwner(entry))) continue
      if (entry.is === 'document') this.#documents.push(entry)
      else if (entry.is === 'value') await this.#writeValue(lists.values, entry)
      else if (entry.is === 'blob') await this.#writeBlob(lists.blobs, entry)
      else {
        const { payload, error, ...job } = entry
        await lists.jobs.add({ ...job, ...exportedBytes(payload), ...(entry.is === 'buried' && { error }) })
      }
    }
  }

  /** Returns false for a schema of an API key that does not have the organization of the export. */
  async #isOfOwner(entry: StoredEntry): Promise<boolean> {
    const { organizationId } = this.#options
    const tenant = entry.is === 'value' ? tenantOfSchemas(entry.part) : null
    if (tenant === null || organizationId === null) return true
    const key = tenantKeys.organization(organizationId)
    const [found] = await this.#store.engine.kv.get(tenantPart(tenant), [key])
    return found !== null && found !== undefined
  }

  async #writeValue(
    list: JsonLinesWriter,
    { part, key, value }: Extract<StoredEntry, { is: 'value' }>,
  ): Promise<void> {
    const bytes = exportedBytes(value)
    const line: ValueLine = { part, key, ...bytes }
    if (this.#options.secrets === 'included' || !('json' in bytes)) return list.add(line)
    const kept = redactSecrets(part, key, bytes.json)
    if (kept === null) return
    const { record: json, secrets } = kept
    await list.add({ part, key, json, ...(secrets.length > 0 && { secrets }) })
  }

  async #writeBlob(
    list: JsonLinesWriter,
    { key, value }: Extract<StoredEntry, { is: 'blob' }>,
  ): Promise<void> {
    const file = `blobs/${sha256Of(JSON.stringify(key)).slice(0, 32)}.bin`
    const { objects = null } = this.#options
    const content = await withRecordName('blob', key, () => readStoredBlob(value, objects))
    await list.add({ key, ...(await this.#tree.write(file, content)) })
  }

  async #writeDocuments(list: JsonLinesWriter): Promise<void> {
    const all = this.#documents
    for (let start = 0; start < all.length; start += documentsAtOnce) {
      this.#onProgress('documents', start / all.length)
      const slice = all.slice(start, start + documentsAtOnce)
      const lines = await Promise.all(slice.map((entry) => this.#writeDocument(entry)))
      for (const line of lines) if (line !== null) await list.add(line)
    }
    this.#onProgress('documents', 1)
  }

  /**
   * Writes the files of a document. Returns the line of the document for the list; null if the document is
   * damaged.
   */
  async #writeDocument({ key, state, epoch }: DocumentEntry): Promise<DocumentLine | null> {
    const address = addressOf(key)
    if (state === 'deleted') return { state, address, epoch }
    try {
      const { loaded, state: room } = await loadRoom(this.#store.engine.log, key, { isBounded: false })
      if (loaded.state !== 'live') throw new Error('its log is gone')
      const { base, head, changed } = loaded
      const { bytes: attribution } = (await this.#attribution.isEnabled(address.workspaceId))
        ? await compactedAttribution(this.#store.engine.log, key, { epoch, base, upTo: head })
        : { bytes: null }
      const format = this.#options.format ?? 'xml'
      const written = await writeDocument(this.#tree, address, room.encode(), { format, attribution })
      for (const { bytes } of written.files) this.#bytes += bytes
      return {
        state,
        address,
        log: { epoch, head, changedAt: changed.at, changedBy: changed.by },
        ...written,
      }
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

  async #writeCredentials(directory: string): Promise<FileEntry | null> {
    const path = credentialsPath(directory)
    if (this.#options.secrets === 'left out') return null
    const bytes = (await readFile(path).catch(() => null)) ?? (await this.#agreed())
    return bytes && this.#tree.write(basename(path), bytes)
  }

  /**
   * Returns the credentials that the servers of a cluster share in the database, as the content of a
   * credentials file. Such servers need no credentials file. Returns null if the store contains no
   * credentials.
   */
  async #agreed(): Promise<Uint8Array | null> {
    const agreed = await readClusterCredentials(this.#store.engine.kv)
    return agreed && Buffer.from(`${JSON.stringify(agreed, null, 2)}\n`)
  }

  async #writeSummary(
    lists: Readonly<Record<ListKind, FileEntry & { readonly lines: number }>>,
    credentials: FileEntry | null,
  ): Promise<void> {
    const { holds, organizationId, secrets, clock } = this.#options
    const summary = encodeSummary({
      format: exportFormat,
      version: readPackageVersion(),
      madeAt: new Date(clock.now()).toISOString(),
      holds,
      organizationId,
      secrets,
      credentials,
      lists,
    })
    await this.#tree.write(summaryName, summary)
  }
}

/** Converts the key of a log to the address of its document. This function is the inverse of `addressKey`. */
export function addressOf(key: Key): DocumentAddress {
  const [workspaceId = '', apiKey = '', organizationId = '', documentId = '', editorId = ''] = key
  return { workspaceId, apiKey, organizationId, documentId, editorId }
}

/** Calls `work` for each list in parallel, and returns the results by list. */
async function forEachList<Result>(
  work: (kind: ListKind) => Promise<Result>,
): Promise<Record<ListKind, Result>> {
  const [documents, values, blobs, jobs] = await Promise.all([
    work('documents'),
    work('values'),
    work('blobs'),
    work('jobs'),
  ])
  return { documents, values, blobs, jobs }
}
