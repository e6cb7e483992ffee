import type { Log } from '../../log.ts'
import type { Metrics } from '../../metrics.ts'
import { closeCodes } from '../../model/close.ts'
import type { LimitReports } from '../../quota/limit-reports.ts'
import type { LimitName } from '../../quota/limits.ts'
import { messageTooEarly, transferTooSlow } from './incomplete-message.ts'

/** Error code of `ws` for a message that is larger than its server accepts. */
const messageTooBig = 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'

export interface CloseReporterDependencies {
  readonly logger: Log
  readonly metrics: Metrics
  readonly reports: LimitReports
}

/** Tells how websockets end. */
export class CloseReporter {
  readonly #limit: LimitName
  readonly #parts: CloseReporterDependencies

  /** @param limit exceeded by messages that are too large */
  constructor(limit: LimitName, parts: CloseReporterDependencies) {
    this.#limit = limit
    this.#parts = parts
  }

  /** @param code of the error, as `ws` names it @param who is told of when too much has come */
  failed(code: string, err: { readonly message: string }, who: string): void {
    const { logger, reports } = this.#parts
    logger.debug({ err, code }, 'websocket error')
    if (code === messageTooBig) reports.exceeded(this.#limit, who)
    if (code === messageTooEarly) reports.exceeded('incompleteMessageBytes', who)
    if (code === transferTooSlow) reports.exceeded('transferTimeoutSeconds', who)
  }

  /** @param code of the close frame, or what stands for none */
  closed(code: number): void {
    this.#parts.metrics.connectionsClosed.inc({ code: codeLabel(code) })
  }
}

const ownCodes = new Set<number>(Object.values(closeCodes))

/** Codes that clients make up must not make up series. */
const codeLabel = (code: number): string =>
  ownCodes.has(code) || (code >= 1000 && code < 1016) ? String(code) : 'other'
