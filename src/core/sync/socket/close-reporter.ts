import type { Log } from '../../base/log.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import { closeCodes } from '../../model/close.ts'
import type { LimitReports } from '../../quota/limit-reports.ts'
import type { LimitName } from '../../quota/limits.ts'
import { messageTooEarly, transferTooSlow } from './incomplete-message.ts'
import { tooMuchAfterClose } from './rejected-limit.ts'

/** Error code of `ws` for a message that is larger than the websocket server accepts. */
const messageTooLarge = 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'

/** Reports errors and closes of websockets. */
export class CloseReporter {
  readonly #limit: LimitName
  readonly #logger: Log
  readonly #metrics: Metrics
  readonly #reports: LimitReports

  /** @param limit name of the limit that a message exceeds if it is too large */
  constructor(limit: LimitName, logger: Log, metrics: Metrics, reports: LimitReports) {
    this.#limit = limit
    this.#logger = logger
    this.#metrics = metrics
    this.#reports = reports
  }

  /**
   * Reports an error.
   * @param code error code of `ws`
   * @param limitKey key for the limit report
   */
  failed(code: string, err: { readonly message: string }, limitKey: string): void {
    this.#logger.debug({ err, code }, 'websocket error')
    if (code === messageTooLarge) this.#reports.exceeded(this.#limit, limitKey)
    if (code === messageTooEarly) this.#reports.exceeded('incompleteMessageBytes', limitKey)
    if (code === tooMuchAfterClose) this.#reports.exceeded('unauthenticatedBytes', limitKey)
    if (code === transferTooSlow) this.#reports.exceeded('transferTimeoutSeconds', limitKey)
  }

  /** Counts a close in a metric. @param code close code, or the code that represents a missing close frame */
  closed(code: number): void {
    this.#metrics.connectionsClosed.inc({ code: codeLabel(code) })
  }
}

const ownCodes = new Set<number>(Object.values(closeCodes))

/** Returns the metric label of a close code. Arbitrary codes of clients must not create metric series. */
const codeLabel = (code: number): string =>
  ownCodes.has(code) || (code >= 1000 && code < 1016) ? String(code) : 'other'
