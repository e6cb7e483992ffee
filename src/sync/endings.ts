import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { closeCodes } from '../model/close.ts'
import type { LimitName } from '../quota/limits.ts'
import type { LimitReports } from '../quota/reports.ts'
import { receivedTooMuch } from './receive-bound.ts'
import { messageTooBig } from './websockets.ts'

export interface EndingsParts {
  readonly logger: Log
  readonly metrics: Metrics
  readonly reports: LimitReports
}

/** Tells how websockets end. */
export class Endings {
  readonly #limit: LimitName
  readonly #parts: EndingsParts

  /** @param limit what has acted when a message is too large */
  constructor(limit: LimitName, parts: EndingsParts) {
    this.#limit = limit
    this.#parts = parts
  }

  /** @param code of the error, as `ws` names it @param who is told of when too much has come */
  failed(code: string, err: { readonly message: string }, who: string): void {
    const { logger, reports } = this.#parts
    logger.debug({ err, code }, 'websocket error')
    if (code === messageTooBig) reports.acted(this.#limit, who)
    if (code === receivedTooMuch) reports.acted('unfinishedBytes', who)
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
