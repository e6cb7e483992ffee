import { ApiError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import { addressKey, type DocumentAddress } from '../../model/address.ts'
import { limitDetails } from '../../quota/limits.ts'
import { keyName } from '../../store/key-encoding.ts'
import type { IntegrationTooExpensiveError } from '../../update/integration.ts'

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
 * logged when it is added, and counted in a metric. A full set drops the least recently used document. When
 * that document is opened again, the event loop tries to read it, and adds it again.
 */
export class ExpensiveDocuments {
  /** Keys of the documents, the least recently used first. */
  readonly #keys = new Set<string>()
  readonly #metrics: Metrics
  readonly #logger: Log

  constructor({ metrics, logger }: { metrics: Metrics; logger: Log }) {
    this.#metrics = metrics
    this.#logger = logger
  }

  add(address: DocumentAddress): void {
    const key = keyName(addressKey(address))
    if (this.#keys.has(key)) return
    const { organizationId, documentId, editorId, apiKey } = address
    this.#logger.warn(
      { event: 'document.expensive', apiKey, organizationId, documentId, editorId },
      'a document is expensive to read; threads read it from now on',
    )
    this.#keys.add(key)
    const [first] = this.#keys
    if (this.#keys.size > cachedDocumentsMax && first !== undefined) this.#keys.delete(first)
    this.#count()
  }

  /** Returns whether the document is known to be expensive, and marks it as recently used. */
  has(key: string): boolean {
    if (!this.#keys.delete(key)) return false
    this.#keys.add(key)
    return true
  }

  /** Removes a document that was deleted. */
  delete(key: string): void {
    if (this.#keys.delete(key)) this.#count()
  }

  deleteUnder(start: string): void {
    for (const key of this.#keys) if (key.startsWith(start)) this.delete(key)
  }

  #count(): void {
    this.#metrics.documentsExpensive.set(this.#keys.size)
  }
}
