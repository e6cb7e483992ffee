import { rename, stat, writeFile } from 'node:fs/promises'
import { systemClock } from '../../../core/base/clock.ts'
import { ApiError, errorMessage } from '../../../core/base/errors.ts'
import { makeDirectory } from '../../../core/config/files/make-directory.ts'
import type { DocumentService } from '../../../core/directory/services/document-service.ts'
import type { AccessType } from '../../../core/directory/store/records.ts'
import { importClusterCredentials } from '../../../core/directory/tenants/cluster-credentials.ts'
import { credentialsPath, readCredentials } from '../../../core/directory/tenants/credentials-file.ts'
import { TenantStore } from '../../../core/directory/tenants/tenant-store.ts'
import type { DocumentAddress, Tenant } from '../../../core/model/address.ts'
import { DocumentRejectedError } from '../../../core/rooms/log/merge-stored.ts'
import { CorruptRecordError } from '../../../core/store/engine.ts'
import { isObjectReference } from '../../../core/store/pairs/stored-blob.ts'
import {
  directoryOf,
  hasStore,
  locationName,
  type OfflineStore,
  openEmpty,
  openForImport,
  type StoreLocation,
} from '../../backups/storage/offline-store.ts'
import { type Progress, StorageError } from '../../backups/storage/storage-error.ts'
import { ImportEvents } from '../documents/import-events.ts'
import { MergeThread } from '../documents/merge-thread.ts'
import { ExportReader } from '../export/export-reader.ts'
import { importPart } from '../export/export-selection.ts'
import { type DocumentLine, encodeEditorPath, type LiveLine } from '../export/manifest.ts'
import { recordsOf } from '../offline-records.ts'
import { ImportMarker } from './import-marker.ts'
import { DocumentRestorer, type ExportedDocument, type RestoreOutcome } from './restore-document.ts'
import { restoreJobs } from './restore-jobs.ts'
import { type Comparison, ValueRestorer } from './restore-values.ts'

interface ImportOptions {
  /** `real` writes the data. `dry` checks everything and writes nothing. */
  readonly run: 'real' | 'dry'
  /** New owner of the documents if the export contains documents only. Null keeps the original owner. */
  readonly tenant: Tenant | null
  /** Access type of documents for which the import creates a new record, because the export contains none. */
  readonly defaultAccess: AccessType
  /** Maximum milliseconds to read one document. */
  readonly documentMsMax: number
}

export interface ExportImportResult {
  readonly documents: Readonly<Record<RestoreOutcome, number>>
  /** Number of deleted documents in the export. They stay deleted in the store. */
  readonly deleted: number
  /**
   * Numbers of records that were added, and of records that were stored already. Records are keys with their
   * values, contents of versions, and jobs.
   */
  readonly records: { readonly added: number; readonly there: number }
  /** Messages about the rejected documents. */
  readonly problems: readonly string[]
}

/**
 * Imports an export into a new or existing store of a stopped server. Before the function writes anything, it
 * checks that the export is complete and does not conflict with stored data. It reads all written data back.
 * After an interruption, call the function again: it skips data that is already stored.
 * @throws StorageError, EngineOpenError, StoreUnavailableError
 */
export async function importExport(
  source: string,
  place: StoreLocation,
  options: ImportOptions,
  onProgress: Progress,
): Promise<ExportImportResult> {
  const files = await ExportReader.check(source, onProgress)
  if (files.summary.holds === 'all' && options.tenant !== null)
    throw new StorageError(
      'this export contains workspaces and API keys; --workspace and --api-key work only for an export of documents only',
    )
  const directory = directoryOf(place)
  const isNew = !(await hasStore(place))
  if (options.run === 'real')
    await makeDirectory(directory).catch((error: unknown) => {
      throw new StorageError(`${directory} cannot be made: ${errorMessage(error)}`)
    })
  const store = options.run === 'dry' && isNew ? await openEmpty() : await openForImport(place)
  const merging = new MergeThread({ ...options, documentBytesMax: Number.POSITIVE_INFINITY })
  try {
    return await new ExportImport({ store, merging, files, options, onProgress }).run(place)
  } finally {
    await merging.end()
    await store.close()
  }
}

interface ExportImportDependencies {
  readonly store: OfflineStore
  readonly merging: MergeThread
  readonly files: ExportReader
  readonly options: ImportOptions
  readonly onProgress: Progress
}

class ExportImport {
  readonly #dependencies: ExportImportDependencies
  readonly #documents: DocumentRestorer
  readonly #records: DocumentService
  readonly #events: ImportEvents
  readonly #placed: Record<RestoreOutcome, number> = { added: 0, merged: 0, there: 0 }
  readonly #problems: string[] = []
  #deleted = 0
  #blobs = { added: 0, there: 0 }

  constructor(dependencies: ExportImportDependencies) {
    this.#dependencies = dependencies
    const { engine } = dependencies.store
    this.#documents = new DocumentRestorer(engine.log, dependencies.merging)
    const events = new ImportEvents(engine.kv)
    this.#events = events
    const { defaultAccess } = dependencies.options
    const hasFeed = (tenant: Tenant) => events.hasFeed(tenant)
    this.#records = recordsOf(engine, systemClock, defaultAccess, hasFeed).documents
  }

  async run(place: StoreLocation): Promise<ExportImportResult> {
    const { store, files, options } = this.#dependencies
    const { engine } = store
    const values = new ValueRestorer(engine, files)
    const compared = await values.compare()
    await this.#expectTenants()
    const mark =
      options.run === 'real' ? await ImportMarker.begin(store, locationName(place), files.name) : null
    // Writes the contents of versions before the records that refer to them, and documents before their
    // records.
    await this.#placeBlobs()
    await this.#placeDocuments()
    if (options.run === 'real') await this.#writeValues(values, compared)
    const jobs = await restoreJobs(engine, files, options.run)
    if (options.run === 'real') await this.#writeCredentials(place)
    await mark?.end()
    const { added, there } = this.#blobs
    return {
      documents: this.#placed,
      deleted: this.#deleted,
      records: { added: compared.absent + added + jobs.added, there: compared.same + there + jobs.there },
      problems: this.#problems,
    }
  }

  async #writeValues(values: ValueRestorer, compared: Comparison): Promise<void> {
    await values.write(compared)
    const { absent } = await values.compare()
    if (absent > 0 && !compared.ownTenants) throw new StorageError('the records differ from what was written')
  }

  /**
   * Checks that the store has the API keys to which the documents belong. Without these keys, no client could
   * reach the documents.
   */
  async #expectTenants(): Promise<void> {
    const { store, files, options } = this.#dependencies
    if (files.summary.holds === 'all') return
    const known = new Set<string>()
    for await (const { address } of files.lines('documents')) {
      const { workspaceId, apiKey } = this.#placeOf(address)
      const name = JSON.stringify([workspaceId, apiKey])
      if (known.has(name)) continue
      known.add(name)
      if (await new TenantStore(store.engine.kv).isTenant({ workspaceId, apiKey })) continue
      throw new StorageError(
        `the store has no API key ${JSON.stringify(apiKey)} of a workspace ${JSON.stringify(workspaceId)}` +
          (options.tenant === null ? ': name others with --workspace and --api-key' : ''),
      )
    }
  }

  #placeOf(address: DocumentAddress): DocumentAddress {
    return { ...address, ...this.#dependencies.options.tenant }
  }

  async #placeBlobs(): Promise<void> {
    const { store, files, options } = this.#dependencies
    const { blobs } = store.engine
    for await (const line of files.lines('blobs')) {
      const bytes = await files.read(line)
      const found = await blobs.get(line.key)
      // The key has the digest of the content, so a reference is one to an object with the same content.
      const isThere = found !== null && (isObjectReference(found) || Buffer.compare(found, bytes) === 0)
      this.#blobs[isThere ? 'there' : 'added'] += 1
      if (!isThere && options.run === 'real') await blobs.put(line.key, bytes)
    }
  }

  async #placeDocuments(): Promise<void> {
    const { files, onProgress } = this.#dependencies
    const total = files.summary.lists.documents.lines
    let done = 0
    for await (const line of files.lines('documents')) {
      onProgress('documents', done++ / total)
      try {
        if (line.state === 'deleted') await this.#storeTombstone(line)
        else this.#placed[await this.#place(line)] += 1
      } catch (error) {
        if (!isOfDocument(error)) throw error
        this.#problems.push(`${encodeEditorPath(line.address)}: ${error.message}`)
      }
    }
    onProgress('documents', 1)
  }

  async #place(line: LiveLine): Promise<RestoreOutcome> {
    const { files, options } = this.#dependencies
    const [update] = line.files.filter(({ is }) => is === 'update')
    if (update === undefined) throw new StorageError('the export has no update of it')
    const { log, stateVector } = line
    const address = this.#placeOf(line.address)
    await this.#events.load(address)
    const bytes = await files.read(update)
    const attribution = line.attribution === undefined ? null : await files.read(line.attribution)
    const document: ExportedDocument = { address, bytes, stateVector, log, attribution }
    if (options.run === 'dry') return this.#documents.plan(document)
    if (files.summary.holds === 'documents') {
      // Calls `plan` first, so that a rejected document gets no records.
      await this.#documents.plan(document)
      await this.#records.ensure(address, address.documentId)
    }
    await this.#recordChange(address)
    return this.#documents.place(document)
  }

  /** Enqueues the jobs of a document before it is written. A job of an unchanged document has no effect. */
  async #recordChange(address: DocumentAddress): Promise<void> {
    const jobs = this.#events.jobsOf(address)
    if (jobs.length > 0) await this.#dependencies.store.engine.kv.commit(importPart, { jobs })
  }

  async #storeTombstone({ address, epoch }: Extract<DocumentLine, { state: 'deleted' }>): Promise<void> {
    this.#deleted += 1
    if (this.#dependencies.options.run === 'real')
      await this.#documents.storeTombstone(this.#placeOf(address), epoch)
  }

  /**
   * Writes the credentials file of the export if the location has no such file. Servers that share a database
   * read the credentials from the store, so the credentials are also written there. The start order of the
   * servers then does not matter.
   */
  async #writeCredentials(place: StoreLocation): Promise<void> {
    const { files, store } = this.#dependencies
    const { credentials } = files.summary
    if (credentials === null) return
    const path = credentialsPath(directoryOf(place))
    if ((await stat(path).catch(() => null)) === null) {
      // Writes a temporary file and then renames it, so that `path` never contains an incomplete file.
      await writeFile(`${path}.new`, await files.read(credentials), { mode: 0o600, flush: true })
      await rename(`${path}.new`, path)
    }
    const kept = typeof place === 'string' ? null : await readCredentials(directoryOf(place))
    if (kept !== null) await importClusterCredentials(store.engine.kv, kept)
  }
}

const isOfDocument = (error: unknown): error is Error =>
  [StorageError, DocumentRejectedError, CorruptRecordError, ApiError].some((type) => error instanceof type)
