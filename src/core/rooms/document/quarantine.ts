import { ApiError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import { addressKey, type DocumentAddress } from '../../model/address.ts'
import type { CorruptRecordError } from '../../store/engine.ts'
import { keyName } from '../../store/key-encoding.ts'

/**
 * Thrown if the stored bytes of a document are damaged. The server rejects all use of the document until it
 * is restored or deleted.
 */
export class DocumentDamagedError extends ApiError {
  readonly record: CorruptRecordError

  constructor(cause: CorruptRecordError) {
    super('document/damaged', 'the stored document is damaged; delete it or restore it from a backup', {
      cause,
    })
    this.name = 'DocumentDamagedError'
    this.record = cause
  }
}

/**
 * The documents whose stored bytes were found to be damaged. Each document is logged once, and counted in a
 * metric until it is removed from this set.
 */
export class Quarantine {
  readonly #damaged = new Set<string>()
  readonly #metrics: Metrics
  readonly #logger: Log

  constructor({ metrics, logger }: { metrics: Metrics; logger: Log }) {
    this.#metrics = metrics
    this.#logger = logger
  }

  /** Adds a document. Returns the error that callers who open the document get. */
  add(address: DocumentAddress, err: CorruptRecordError): DocumentDamagedError {
    const key = keyName(addressKey(address))
    if (!this.#damaged.has(key)) {
      const { organizationId, documentId, editorId, apiKey } = address
      this.#logger.error(
        { err, apiKey, organizationId, documentId, editorId },
        'a stored document is damaged; clients cannot open it',
      )
      this.#damaged.add(key)
      this.#count()
    }
    return new DocumentDamagedError(err)
  }

  has(key: string): boolean {
    return this.#damaged.has(key)
  }

  /** Removes a document that can be opened again, or that was deleted. */
  delete(key: string): void {
    if (this.#damaged.delete(key)) this.#count()
  }

  /** Removes the documents under a key prefix, because they were deleted. */
  deleteUnder(start: string): void {
    for (const key of this.#damaged) if (key.startsWith(start)) this.delete(key)
  }

  #count(): void {
    this.#metrics.documentsDamaged.set(this.#damaged.size)
  }
}
