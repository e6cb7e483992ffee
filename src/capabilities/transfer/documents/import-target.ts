import * as Y from 'yjs'
import { systemClock } from '../../../core/base/clock.ts'
import { ApiError } from '../../../core/base/errors.ts'
import { replaceKeepingKind } from '../../../core/content/keep-kinds.ts'
import { type ContentTarget, checkContent } from '../../../core/content/replace.ts'
import type { ReplacementResult } from '../../../core/content/replacement-result.ts'
import { createDoc } from '../../../core/content/yjs/create-doc.ts'
import type { DocumentService } from '../../../core/directory/services/document-service.ts'
import type { AccessType } from '../../../core/directory/store/records.ts'
import { changeJob } from '../../../core/events/change-jobs.ts'
import { addressKey, type DocumentAddress, type Tenant } from '../../../core/model/address.ts'
import {
  DocumentRejectedError,
  type Merged,
  missingUpdate,
  vet,
} from '../../../core/rooms/log/merge-stored.ts'
import {
  AppendRejectedError,
  type AppendTo,
  CorruptRecordError,
  type Engine,
  type LogUpdate,
} from '../../../core/store/engine.ts'
import { openForWriting, openTenant, type StoreLocation } from '../../backups/storage/offline-store.ts'
import { type ConfigSnapshot, readConfigSnapshot, wantsChanges } from '../../webhooks/config-snapshot.ts'
import { type MergeLimits, MergeThread } from './merge-thread.ts'
import { readBack, readStoredState, recordsOf, type StoredDocumentState } from './stored-document.ts'

export interface TargetOptions extends MergeLimits {
  /** Access type of new documents. */
  readonly defaultAccess: AccessType
  /**
   * Treatment of a document that was deleted in this store: `refuse` rejects it, and `recreate` creates it
   * again.
   */
  readonly deleted: 'refuse' | 'recreate'
}

/** Result of `put`, `add` or `replace`. */
export interface PutResult {
  /**
   * - `made`: the document did not exist, and was created.
   * - `added`: a part of the update was missing in the document, and was written.
   * - `there`: the document already contained the whole update, and nothing was written.
   */
  readonly is: 'made' | 'added' | 'there'
  /** Size of the given updates in bytes, encoded as one update. */
  readonly bytes: number
  /** Size of the appended update in bytes; 0 if nothing was written. */
  readonly writtenBytes: number
}

/** Writes imported documents into the store of a stopped server. The caller must close the target. */
export class ImportTarget {
  readonly #engine: Engine
  readonly #options: TargetOptions
  readonly #merging: MergeThread
  readonly #records: DocumentService
  readonly #config: ConfigSnapshot

  private constructor(engine: Engine, options: TargetOptions, config: ConfigSnapshot) {
    this.#engine = engine
    this.#options = options
    this.#merging = new MergeThread(options)
    this.#config = config
    const hasFeed = () => config.feed.enabled
    this.#records = recordsOf(engine, systemClock, options.defaultAccess, hasFeed).documents
  }

  /**
   * Opens the store in order to write documents of one API key.
   * @throws BootstrapError if the store does not have the API key; StorageError; EngineOpenError, for example if a
   * server uses the store or if files are damaged
   */
  static async open(place: StoreLocation, tenant: Tenant, options: TargetOptions): Promise<ImportTarget> {
    const engine = await openTenant(place, tenant, openForWriting)
    return new ImportTarget(engine, options, await readConfigSnapshot(engine.kv, tenant))
  }

  async close(): Promise<void> {
    await this.#merging.end()
    await this.#engine.close()
  }

  /**
   * Merges updates (V1) into a document, and then reads the document back to check it. Content that is
   * already stored is kept. If the document does not exist, creates it with the records that a first edit
   * through a websocket would create. Resolves when the document is durable. Do not call this method for a
   * document while another call for the same document runs.
   * @throws DocumentRejectedError, if nothing of the document was written; StoreUnavailableError;
   * StorageError if the document that was read back differs
   */
  async put(address: DocumentAddress, updates: readonly Uint8Array[]): Promise<PutResult> {
    const given = await this.#merging.merge(updates)
    return { ...(await refusing(this.#put(address, given))), bytes: given.bytes.length }
  }

  /**
   * Merges one update in the same way as `put`. The update may depend on content that is already stored.
   * @throws the errors of `put`; DocumentRejectedError also if the document is disabled
   */
  async add(address: DocumentAddress, update: Uint8Array): Promise<PutResult> {
    vet(update, null)
    return this.put(address, [...(await refusing(this.#enabledContent(address))), update])
  }

  /**
   * Replaces the content of a root with few operations, as the REST API does. Creates the document if it does
   * not exist.
   * @throws the errors of `put`; DocumentRejectedError also if the content does not fit the root, or if the
   * document is disabled
   */
  async replace(
    address: DocumentAddress,
    content: ContentTarget,
  ): Promise<PutResult & { readonly change: ReplacementResult }> {
    const before = await refusing(this.#enabledContent(address))
    const { change, update } = await refusing(replacementOf(before, content))
    const put = await this.put(address, [...before, ...(change.changed ? [update] : [])])
    return { ...put, change }
  }

  /** Returns the updates of a document: one, or none if it does not exist. @throws ApiError if it is disabled */
  async #enabledContent(address: DocumentAddress): Promise<readonly Uint8Array[]> {
    await this.#records.requireEnabled(address, address.documentId)
    const stored = await readStoredState(this.#engine.log, addressKey(address))
    return stored.state === 'live' ? [stored.bytes] : []
  }

  async #put(address: DocumentAddress, given: Merged): Promise<Omit<PutResult, 'bytes'>> {
    const { log } = this.#engine
    const doc = addressKey(address)
    const stored = await readStoredState(log, doc)
    if (stored.state === 'deleted' && this.#options.deleted === 'refuse')
      throw new DocumentRejectedError('it was deleted here')
    const isLive = stored.state === 'live'
    const bytes = isLive ? missingUpdate(stored.bytes, given.bytes) : given.bytes
    const { content } =
      isLive && bytes !== null ? await this.#merging.merge([stored.bytes, given.bytes]) : given
    // Also if nothing is missing in the log, because an interrupted command may have written only the log.
    await this.#records.ensure(address, address.documentId)
    if (bytes === null) return { is: 'there', writtenBytes: 0 }
    const update: LogUpdate = { bytes, by: '', source: 'import' }
    // The server adds the document to the change feed, and sends it to the callback `store`, after its next start.
    // Webhooks get no events of an import.
    const jobs = wantsChanges(this.#config) ? [changeJob(address)] : []
    await log.append(doc, logOf(stored), [update], { expectHead: isLive ? stored.head : 0, jobs })
    await readBack(log, doc, content)
    return { is: isLive ? 'added' : 'made', writtenBytes: bytes.length }
  }
}

/** Returns the update that replaces the content of a root, and a summary of the change. */
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

function logOf(stored: StoredDocumentState): AppendTo {
  if (stored.state === 'live') return stored.epoch
  return stored.state === 'absent' ? 'create' : 'recreate'
}

/**
 * Converts errors that concern a single document to DocumentRejectedError, so that the import can continue
 * with the other documents.
 */
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
