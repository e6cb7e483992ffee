import { ApiError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import { addressKey, type DocumentAddress } from '../../model/address.ts'
import { limitDetails } from '../../quota/limits.ts'
import type { CorruptRecordError } from '../../store/engine.ts'
import { keyName } from '../../store/key-encoding.ts'
import type { IntegrationTooExpensiveError } from '../../update/integration.ts'

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

/** A set of documents with a problem. Their number is shown in a metric. */
class ProblemDocuments {
  /** Keys of the documents, the least recently used first. */
  readonly #keys = new Set<string>()
  readonly #gauge: Pick<Metrics['documentsDamaged'], 'set'>
  readonly #max: number

  constructor(gauge: Pick<Metrics['documentsDamaged'], 'set'>, max: number) {
    this.#gauge = gauge
    this.#max = max
  }

  /** Adds a document. Returns false if it was there. A full set drops the least recently used document. */
  protected note(address: DocumentAddress): boolean {
    const key = keyName(addressKey(address))
    if (this.has(key)) return false
    this.#keys.add(key)
    const [first] = this.#keys
    if (this.#keys.size > this.#max && first !== undefined) this.#keys.delete(first)
    this.#gauge.set(this.#keys.size)
    return true
  }

  /** Returns whether the document is in the set, and marks it as recently used. */
  has(key: string): boolean {
    if (!this.#keys.delete(key)) return false
    this.#keys.add(key)
    return true
  }

  /** Removes a document that no longer has the problem, or that was deleted. */
  delete(key: string): void {
    if (this.#keys.delete(key)) this.#gauge.set(this.#keys.size)
  }

  /** Removes the documents under a key prefix, because they were deleted. */
  deleteUnder(start: string): void {
    for (const key of this.#keys) if (key.startsWith(start)) this.delete(key)
  }
}

/** The documents whose stored bytes were found to be damaged. Each document is logged once. */
export class Quarantine extends ProblemDocuments {
  readonly #logger: Log

  constructor({ metrics, logger }: { metrics: Metrics; logger: Log }) {
    super(metrics.documentsDamaged, Number.POSITIVE_INFINITY)
    this.#logger = logger
  }

  /** Adds a document. Returns the error that callers who open the document get. */
  add(address: DocumentAddress, err: CorruptRecordError): DocumentDamagedError {
    if (this.note(address))
      this.#logger.error(
        { err, ...loggedFields(address) },
        'a stored document is damaged; clients cannot open it',
      )
    return new DocumentDamagedError(err)
  }
}

const loggedFields = ({ organizationId, documentId, editorId, apiKey }: DocumentAddress) => ({
  apiKey,
  organizationId,
  documentId,
  editorId,
})

/**
 * Thrown if creating the Y.Doc of a document would block the event loop for too long. A thread must then
 * prepare the document.
 */
export class DocumentExpensiveError extends ApiError {
  constructor(cause: IntegrationTooExpensiveError) {
    super('crdt/document-expensive', 'the document is expensive to open and is being prepared; try again', {
      cause,
      retryAfterSeconds: 1,
    })
    this.name = 'DocumentExpensiveError'
  }
}

/** Returns the error for an update that would make its document too expensive to read. */
export const tooExpensive = (stepsMax: number): ApiError =>
  new ApiError(
    'crdt/update-too-expensive',
    `the update is too expensive to integrate: more than ${stepsMax} steps; send its content as new edits`,
    { details: limitDetails('integrationSteps', stepsMax) },
  )

/** Maximum number of documents in `ExpensiveDocuments`. */
const cachedDocumentsMax = 10_000

/**
 * The documents that are too expensive for the event loop, so that a thread must read them. Each document is
 * logged when it is added. When a document is opened again that the full set has dropped, the event loop tries to read
 * it, and adds it again.
 */
export class ExpensiveDocuments extends ProblemDocuments {
  readonly #logger: Log

  constructor({ metrics, logger }: { metrics: Metrics; logger: Log }) {
    super(metrics.documentsExpensive, cachedDocumentsMax)
    this.#logger = logger
  }

  add(address: DocumentAddress): void {
    if (this.note(address))
      this.#logger.warn(
        { event: 'document.expensive', ...loggedFields(address) },
        'a document is expensive to read; threads read it from now on',
      )
  }
}
