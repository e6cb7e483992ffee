import { requireAppended } from '../../engine/append-result.ts'
import type { DocumentLog } from '../../engine/engine.ts'
import { addressKey, type DocumentAddress } from '../../model/address.ts'
import { readBack, readStoredState, type StoredDocumentState } from '../documents/stored-document.ts'
import type { ExportedLog } from '../export/manifest.ts'
import { contentSum, DocumentRejectedError, missingUpdate, vet } from './merge.ts'

/** `there`: all of it was there already. `merged`: there was something else, which stays. */
export type RestoreOutcome = 'added' | 'merged' | 'there'

export interface ExportedDocument {
  readonly address: DocumentAddress
  /** A whole state (V1). */
  readonly bytes: Uint8Array
  /** Of it, base64. */
  readonly stateVector: string
  /** Where its log is to stand where there is none. */
  readonly log: ExportedLog
}

/** Puts documents of an export into the store of a stopped server as they were, and reads them back. */
export class DocumentRestorer {
  readonly #log: DocumentLog

  constructor(log: DocumentLog) {
    this.#log = log
  }

  /** What `place` would do. @throws as it */
  async plan(document: ExportedDocument): Promise<RestoreOutcome> {
    expectWhole(document)
    return placedOf(await readStoredState(this.#log, addressKey(document.address)), document)
  }

  /**
   * Resolves when it is durable and has been read back.
   * @throws DocumentRejectedError when the bytes are not the document that is listed, and nothing is written; CorruptRecordError;
   * StoreUnavailableError; StorageError when what is read back differs
   */
  async place(document: ExportedDocument): Promise<RestoreOutcome> {
    expectWhole(document)
    const { address, bytes, log } = document
    const doc = addressKey(address)
    const stored = await readStoredState(this.#log, doc)
    const placed = placedOf(stored, document)
    if (placed === 'there') return placed
    if (stored.state === 'live') {
      const missing = missingUpdate(stored.bytes, bytes) ?? bytes
      const update = { bytes: missing, by: '' }
      requireAppended(await this.#log.append(doc, stored.epoch, [update], { expectHead: stored.head }))
      await readBack(this.#log, doc, contentSum(stored.bytes, bytes))
      return placed
    }
    const { head, changedAt: at, changedBy: by } = log
    // One that was deleted here since gets a log of its own: nobody who has it still writes to that.
    const epoch = stored.state === 'deleted' ? Math.max(log.epoch, stored.epoch + 1) : log.epoch
    await this.#log.adopt(doc, { state: 'live', epoch, head, changed: { at, by }, snapshot: bytes })
    await readBack(this.#log, doc, contentSum(bytes))
    return placed
  }

  /** Leaves a document deleted for those who have it still; what is there stays. */
  async bury(address: DocumentAddress, epoch: number): Promise<void> {
    await this.#log.adopt(addressKey(address), { state: 'deleted', epoch })
  }
}

function placedOf(stored: StoredDocumentState, { bytes }: ExportedDocument): RestoreOutcome {
  if (stored.state !== 'live') return 'added'
  return missingUpdate(stored.bytes, bytes) === null ? 'there' : 'merged'
}

/** @throws DocumentRejectedError */
function expectWhole({ bytes, stateVector }: ExportedDocument): void {
  vet(bytes, { allowSubdocuments: true }, null)
  if (Buffer.from(contentSum(bytes).vector).toString('base64') !== stateVector)
    throw new DocumentRejectedError('its state vector is not the one that is listed')
}
