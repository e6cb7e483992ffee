import * as Y from 'yjs'
import { systemClock } from '../../clock.ts'
import { replaceKeepingKind } from '../../content/keep-kinds.ts'
import { type ContentTarget, checkContent } from '../../content/replace.ts'
import type { ReplacementResult } from '../../content/replacement-result.ts'
import { createDoc } from '../../content/yjs/create-doc.ts'
import type { DocumentService } from '../../directory/documents/document-service.ts'
import type { AccessType } from '../../directory/store/records.ts'
import { requireTenant } from '../../directory/tenants/bootstrap.ts'
import { TenantStore } from '../../directory/tenants/tenant-store.ts'
import { requireAppended } from '../../engine/append-result.ts'
import { AppendRejectedError, type AppendTo, CorruptRecordError, type Engine } from '../../engine/engine.ts'
import { ApiError } from '../../errors.ts'
import { addressKey, type DocumentAddress, type Tenant } from '../../model/address.ts'
import { type OfflineStore, openForWriting, type StoreLocation } from '../../storage/offline-store.ts'
import { readBack, readStoredState, type StoredDocumentState } from '../documents/stored-document.ts'
import { recordsOf } from '../offline-records.ts'
import {
  type ContentSum,
  DocumentRejectedError,
  type Merged,
  mergeStored,
  missingUpdate,
  vet,
} from './merge.ts'

export interface TargetOptions {
  /** Largest document, as encoded by Yjs, in bytes. */
  readonly documentBytesMax: number
  readonly allowSubdocuments: boolean
  /** The access type of new documents. */
  readonly defaultAccess: AccessType
  /** What becomes of a document that was deleted here: it stays so, or it is made anew. */
  readonly deleted: 'refuse' | 'recreate'
}

/** What `put` has found and done. */
export interface PutResult {
  /** `made`: there was none; `added`: it lacked something; `there`: it had all already, and nothing was written. */
  readonly is: 'made' | 'added' | 'there'
  /** What was given, as one update. */
  readonly bytes: number
  /** Size of the appended update, in bytes: 0 if all was there already. */
  readonly writtenBytes: number
}

/** The store of a stopped server, for documents that come from elsewhere. To be closed. */
export class ImportTarget {
  readonly #store: OfflineStore
  readonly #engine: Engine
  readonly #options: TargetOptions
  readonly #records: DocumentService

  private constructor(store: OfflineStore, options: TargetOptions) {
    this.#store = store
    this.#engine = store.engine
    this.#options = options
    this.#records = recordsOf(store.engine, systemClock, options.defaultAccess).documents
  }

  /** @throws StorageError, EngineOpenError, also where a server has it open, or files are damaged */
  static async open(place: StoreLocation, options: TargetOptions): Promise<ImportTarget> {
    return new ImportTarget(await openForWriting(place), options)
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  /** @throws BootstrapError when the workspace has no such API key */
  require(tenant: Tenant): Promise<void> {
    return requireTenant(new TenantStore(this.#engine.kv), tenant)
  }

  /**
   * Adds updates (V1) to a document, and reads them back. One that is not there is made as by a socket, with its
   * records; what is there already stays. Resolves when it is durable. Not to be called for a document again while a
   * call for it is under way.
   * @throws DocumentRejectedError and nothing is written of it; StoreUnavailableError; StorageError when what is read back differs
   */
  async put(address: DocumentAddress, updates: readonly Uint8Array[]): Promise<PutResult> {
    const given = prepareUpdate(updates, this.#options)
    return { ...(await refusing(this.#put(address, given))), bytes: given.bytes.length }
  }

  /**
   * Like `put`, of one update that may build on what is there.
   * @throws also DocumentRejectedError where the document is disabled
   */
  async add(address: DocumentAddress, update: Uint8Array): Promise<PutResult> {
    vet(update, this.#options, null)
    await refusing(this.#records.requireEnabled(address, address.documentId))
    const stored = await refusing(readStoredState(this.#engine.log, addressKey(address)))
    return this.put(address, stored.state === 'live' ? [stored.bytes, update] : [update])
  }

  /**
   * Makes a root of a document equal to the content with few operations, as REST does. Creates a document that does not
   * exist.
   * @throws DocumentRejectedError also if the content does not fit the root, or the document is disabled
   */
  async replace(
    address: DocumentAddress,
    content: ContentTarget,
  ): Promise<PutResult & { readonly change: ReplacementResult }> {
    await refusing(this.#records.requireEnabled(address, address.documentId))
    const stored = await refusing(readStoredState(this.#engine.log, addressKey(address)))
    const before = stored.state === 'live' ? [stored.bytes] : []
    const { change, update } = await refusing(replacementOf(before, content))
    const put = await this.put(address, [...before, ...(change.changed ? [update] : [])])
    return { ...put, change }
  }

  async #put(address: DocumentAddress, given: Merged): Promise<Omit<PutResult, 'bytes'>> {
    const doc = addressKey(address)
    const stored = await readStoredState(this.#engine.log, doc)
    if (stored.state === 'deleted' && this.#options.deleted === 'refuse')
      throw new DocumentRejectedError('it was deleted here')
    if (stored.state !== 'live') {
      await this.#write(address, stored, { bytes: given.bytes, whole: given.content })
      return { is: 'made', writtenBytes: given.bytes.length }
    }
    const bytes = missingUpdate(stored.bytes, given.bytes)
    if (bytes === null) return this.#there(address)
    const { content } = prepareUpdate([stored.bytes, given.bytes], this.#options)
    await this.#write(address, stored, { bytes, whole: content })
    return { is: 'added', writtenBytes: bytes.length }
  }

  /** A command that was killed may have come as far as the log and no further. */
  async #there(address: DocumentAddress): Promise<Omit<PutResult, 'bytes'>> {
    await this.#records.ensure(address, address.documentId)
    return { is: 'there', writtenBytes: 0 }
  }

  /** @param update `whole`: what the document holds afterwards */
  async #write(
    address: DocumentAddress,
    stored: StoredDocumentState,
    { bytes, whole }: { readonly bytes: Uint8Array; readonly whole: ContentSum },
  ): Promise<void> {
    const doc = addressKey(address)
    const expectHead = stored.state === 'live' ? stored.head : 0
    await this.#records.ensure(address, address.documentId)
    const update = { bytes, by: '' }
    requireAppended(await this.#engine.log.append(doc, logOf(stored), [update], { expectHead }))
    await readBack(this.#engine.log, doc, whole)
  }
}

/** The update that makes a root of a document equal to the content. */
async function replacementOf(
  before: readonly Uint8Array[],
  content: ContentTarget,
): Promise<{ readonly change: ReplacementResult; readonly update: Uint8Array }> {
  const doc = createDoc()
  try {
    for (const bytes of before) Y.applyUpdate(doc, bytes)
    const vector = Y.encodeStateVector(doc)
    const change = replaceKeepingKind(doc, checkContent(content))
    return { change, update: Y.encodeStateAsUpdate(doc, vector) }
  } finally {
    doc.destroy()
  }
}

/**
 * One vetted update of what is to be stored. What `put` does before it looks at the store.
 * @throws DocumentRejectedError
 */
export function prepareUpdate(
  updates: readonly Uint8Array[],
  { documentBytesMax, allowSubdocuments }: Pick<TargetOptions, 'documentBytesMax' | 'allowSubdocuments'>,
): Merged {
  const merged = mergeStored(updates, { allowSubdocuments })
  if (merged.bytes.length <= documentBytesMax) return merged
  throw new DocumentRejectedError(
    `it has ${merged.bytes.length} bytes; the largest document has ${documentBytesMax} (WEFT_MAX_DOCUMENT_BYTES)`,
  )
}

function logOf(stored: StoredDocumentState): AppendTo {
  if (stored.state === 'live') return stored.epoch
  return stored.state === 'absent' ? 'create' : 'recreate'
}

/** What concerns one document ends only that. */
async function refusing<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (
      error instanceof ApiError ||
      error instanceof AppendRejectedError ||
      error instanceof CorruptRecordError
    )
      throw new DocumentRejectedError(error.message)
    throw error
  }
}
