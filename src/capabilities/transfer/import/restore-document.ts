import { addressKey, type DocumentAddress } from '../../../core/model/address.ts'
import { contentSum, DocumentRejectedError, missingUpdate } from '../../../core/rooms/log/merge-stored.ts'
import type { DocumentLog, LogUpdate } from '../../../core/store/engine.ts'
import { requireAppended } from '../../../core/store/log-state.ts'
import { decodeAttribution } from '../../../core/update/attribution/attribution-codec.ts'
import { MalformedUpdateError } from '../../../core/update/malformed.ts'
import type { MergeThread } from '../documents/merge-thread.ts'
import { readBack, readStoredState, type StoredDocumentState } from '../documents/stored-document.ts'
import type { ExportedLog } from '../export/manifest.ts'

/**
 * - `added`: the store had no such document, and the document was written.
 * - `merged`: the store had other content of the document, and keeps it.
 * - `there`: the store already contained the whole document, and nothing was written.
 */
export type RestoreOutcome = 'added' | 'merged' | 'there'

export interface ExportedDocument {
  readonly address: DocumentAddress
  /** The complete state of the document (encoding V1). */
  readonly bytes: Uint8Array
  /** Yjs state vector of `bytes`, in base64. */
  readonly stateVector: string
  /** Position for a new log. It is used only if the store has no log of the document. */
  readonly log: ExportedLog
  /**
   * The authors of the changes, as `encodeAttribution` returns them; null if they are unknown. They are used
   * only if the store has no log of the document.
   */
  readonly attribution: Uint8Array | null
}

/** Writes documents of an export into the store of a stopped server, and reads them back to check them. */
export class DocumentRestorer {
  readonly #log: DocumentLog
  readonly #merging: MergeThread

  constructor(log: DocumentLog, merging: MergeThread) {
    this.#log = log
    this.#merging = merging
  }

  /** Returns the result that `place` would have, without writing anything. @throws the errors of `place` */
  async plan(document: ExportedDocument): Promise<RestoreOutcome> {
    await this.#expectWhole(document)
    return placedOf(await readStoredState(this.#log, addressKey(document.address)), document)
  }

  /**
   * Writes a document. Resolves when the document is durable and has been read back.
   * @throws DocumentRejectedError if the bytes do not match the listed state vector, in which case nothing is
   * written; CorruptRecordError; StoreUnavailableError; StorageError if the document that was read back
   * differs
   */
  async place(document: ExportedDocument): Promise<RestoreOutcome> {
    await this.#expectWhole(document)
    const { address, bytes, log, attribution } = document
    const doc = addressKey(address)
    const stored = await readStoredState(this.#log, doc)
    const placed = placedOf(stored, document)
    if (placed === 'there') return placed
    if (stored.state === 'live') {
      const missing = missingUpdate(stored.bytes, bytes) ?? bytes
      const update: LogUpdate = { bytes: missing, by: '', source: 'import' }
      requireAppended(await this.#log.append(doc, stored.epoch, [update], { expectHead: stored.head }))
      await readBack(this.#log, doc, contentSum(stored.bytes, bytes))
      return placed
    }
    const { head, changedAt: at, changedBy: by } = log
    // A document that was deleted in this store gets a new epoch, so that clients of the deleted document
    // cannot write to the new one.
    const epoch = stored.state === 'deleted' ? Math.max(log.epoch, stored.epoch + 1) : log.epoch
    const changed = { at, by }
    await this.#log.adopt(doc, { state: 'live', epoch, head, changed, snapshot: bytes, attribution })
    await readBack(this.#log, doc, contentSum(bytes))
    return placed
  }

  /**
   * Stores the deletion of a document, so that clients that still have the document cannot restore it. If the
   * document exists in the store, it stays unchanged.
   */
  async storeTombstone(address: DocumentAddress, epoch: number): Promise<void> {
    await this.#log.adopt(addressKey(address), { state: 'deleted', epoch })
  }

  /**
   * Checks the bytes of a document.
   * @throws DocumentRejectedError as for `MergeThread.merge`; also if the authors are malformed, or if the bytes do
   * not match the state vector
   */
  async #expectWhole({ bytes, stateVector, attribution }: ExportedDocument): Promise<void> {
    if (attribution !== null) expectAttribution(attribution)
    const { content } = await this.#merging.merge([bytes])
    if (Buffer.from(content.vector).toString('base64') !== stateVector)
      throw new DocumentRejectedError('its state vector differs from that in documents.jsonl')
  }
}

function placedOf(stored: StoredDocumentState, { bytes }: ExportedDocument): RestoreOutcome {
  if (stored.state !== 'live') return 'added'
  return missingUpdate(stored.bytes, bytes) === null ? 'there' : 'merged'
}

function expectAttribution(bytes: Uint8Array): void {
  try {
    decodeAttribution(bytes)
  } catch (error) {
    if (!(error instanceof MalformedUpdateError)) throw error
    throw new DocumentRejectedError(`its authors are malformed: ${error.message}`)
  }
}
