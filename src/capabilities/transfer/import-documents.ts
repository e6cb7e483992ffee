import { addressKey, type DocumentPath, documentAddress, type Tenant } from '../../core/model/address.ts'
import { DocumentRejectedError } from '../../core/rooms/log/merge-stored.ts'
import { mapInOrder } from '../backups/map-in-order.ts'
import type { Progress } from '../backups/storage/storage-error.ts'
import { ImportTarget, type PutResult, type TargetOptions } from './documents/import-target.ts'
import { type MergeLimits, MergeThread } from './documents/merge-thread.ts'
import { mapName, type NameMapping } from './name-mapping.ts'

/** A document in the data of another server. `name` is the name of the document on that server. */
export type StoredDocument =
  | {
      readonly name: string
      /** Yjs updates (V1) as they are stored. They are not vetted. */
      readonly updates: readonly Uint8Array[]
    }
  | {
      readonly name: string
      /** Reason why the document cannot be read, as a sentence without a period. */
      readonly problem: string
    }

/** Documents of another server that can be imported. The caller must close the source. */
export interface ImportSource {
  /**
   * Returns the number of documents for the progress bar. Counting is much faster than reading the documents.
   */
  count(): Promise<number>
  /**
   * Yields all documents. Each name occurs once. @throws StorageError if the source cannot be read further
   */
  documents(): AsyncIterable<StoredDocument>
  close(): Promise<void>
}

/**
 * Merges the updates of a document into the store. In a dry run, only checks the updates.
 * @throws DocumentRejectedError if only this document is rejected; any other error ends the import
 */
export type ImportSink = (path: DocumentPath, updates: readonly Uint8Array[]) => Promise<PutResult>

export interface DocumentImportResult {
  /** Number of documents in the source, including the rejected ones. */
  readonly documents: number
  readonly made: number
  readonly added: number
  readonly there: number
  /** Total bytes of the accepted documents, each encoded as one update. */
  readonly bytes: number
  /** Names of the rejected documents, each with the reason. */
  readonly problems: readonly { readonly name: string; readonly problem: string }[]
  /** Names that the name map contains, but the source does not. */
  readonly unknown: readonly string[]
  /** Names and addresses of all accepted documents, in the order of the source. */
  readonly mapping: readonly ({ readonly name: string } & DocumentPath)[]
}

/** Concurrent documents share disk syncs. The thread merges one document after the other, so bytes do not count. */
const concurrency = { countMax: 8, bytesMax: 0, bytesOf: () => 0 }

/**
 * Imports all documents of a source. If a document is rejected, adds it to `problems` and continues with the
 * next one.
 */
export async function importDocuments(
  source: ImportSource,
  naming: NameMapping,
  take: ImportSink,
  onProgress: Progress,
): Promise<DocumentImportResult> {
  const addresses = new ImportAddresses(naming)
  const done = { documents: 0, made: 0, added: 0, there: 0, bytes: 0 }
  const problems: DocumentImportResult['problems'][number][] = []
  const mapping: DocumentImportResult['mapping'][number][] = []
  const importOne = async (document: StoredDocument) => {
    const { name } = document
    addresses.unseen.delete(name)
    try {
      if ('problem' in document) throw new DocumentRejectedError(document.problem)
      const path = addresses.take(name)
      return { name, path, put: await take(path, document.updates) }
    } catch (error) {
      if (error instanceof DocumentRejectedError) return { name, problem: error.message }
      throw error
    }
  }
  const total = await source.count()
  for await (const result of mapInOrder(source.documents(), importOne, concurrency)) {
    done.documents += 1
    if (result.problem !== undefined) problems.push(result)
    else {
      const { name, path, put } = result
      done[put.is] += 1
      done.bytes += put.bytes
      mapping.push({ name, ...path })
    }
    onProgress('documents', done.documents / Math.max(total, done.documents))
  }
  return { ...done, problems, unknown: [...addresses.unseen], mapping }
}

/** The addresses of the documents of a source. Each document has another one. */
class ImportAddresses {
  /** Names of the map that the source has not had so far. */
  readonly unseen: Set<string>
  readonly #naming: NameMapping
  /** Names by address. */
  readonly #taken = new Map<string, string>()

  constructor(naming: NameMapping) {
    this.#naming = naming
    this.unseen = new Set(naming.map.keys())
  }

  /**
   * Returns the address for a name.
   * @throws DocumentRejectedError if the name has no address, or if another document of the source has the
   * same address
   */
  take(name: string): DocumentPath {
    const named = mapName(name, this.#naming)
    if ('problem' in named) throw new DocumentRejectedError(named.problem)
    const { path } = named
    const key = JSON.stringify(addressKey(documentAddress(noTenant, path)))
    const other = this.#taken.get(key)
    if (other === name) throw new DocumentRejectedError('its name occurs twice')
    if (other !== undefined)
      throw new DocumentRejectedError(`it has the same address as ${JSON.stringify(other)}; map one of them`)
    this.#taken.set(key, name)
    return path
  }
}

const noTenant: Tenant = { workspaceId: '', apiKey: '' }

export interface ImportWork {
  readonly open: () => Promise<ImportSource>
  readonly naming: NameMapping
  readonly onProgress: Progress
}

/**
 * Merges the documents of a source into the store of a stopped server. If the import fails, the documents
 * that it has already written remain in the store.
 * @throws StorageError, EngineOpenError, StoreUnavailableError
 */
export async function importInto(
  { directory, tenant }: { readonly directory: string; readonly tenant: Tenant },
  work: ImportWork,
  options: TargetOptions,
): Promise<DocumentImportResult> {
  const target = await ImportTarget.open(directory, tenant, options)
  try {
    return await takeAll(work, (path, updates) => target.put(documentAddress(tenant, path), updates))
  } finally {
    await target.close()
  }
}

/** Reads and merges all documents of a source, but does not use a store. @throws StorageError */
export async function dryRunImport(work: ImportWork, limits: MergeLimits): Promise<DocumentImportResult> {
  const merging = new MergeThread(limits)
  try {
    return await takeAll(work, async (_, updates) => {
      const { bytes } = await merging.merge(updates)
      return { is: 'made', bytes: bytes.length, writtenBytes: 0 }
    })
  } finally {
    await merging.end()
  }
}

async function takeAll(
  { open, naming, onProgress }: ImportWork,
  take: ImportSink,
): Promise<DocumentImportResult> {
  const source = await open()
  try {
    return await importDocuments(source, naming, take, onProgress)
  } finally {
    await source.close()
  }
}
