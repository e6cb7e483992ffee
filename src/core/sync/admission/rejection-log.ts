import type { TokenRejectedError } from '../../access/tokens/realtime-tokens.ts'
import type { RecentRequests, RequestOwner } from '../../audit/recent-requests.ts'
import type { Clock } from '../../base/clock.ts'
import type { ApiError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { escapeControls, shortened } from '../../base/text.ts'
import type { DocumentPath, Tenant } from '../../model/address.ts'
import { type Close, closeCodes } from '../../model/close.ts'
import { RepeatedEvents } from '../../quota/repeated-events.ts'
import { StoreUnavailableError } from '../../store/engine.ts'

interface LoggedRejection {
  readonly event:
    | 'socket.rejected'
    | 'socket.closed'
    | 'token.rejected'
    | 'token.claim_misspelled'
    | 'credentials.rejected'
  readonly reason: string
  /** Close code, if the server closes the websocket. */
  readonly code: number | null
  /** HTTP status, if the server does not accept the upgrade. */
  readonly status?: number
  /** The exact cause; null or undefined if it is unknown. */
  readonly detail?: string | null
  /** Address of the client; null if it is unknown. */
  readonly address: string | null
  readonly requested: Requested
}

/**
 * The document that the client requested. If the request does not identify a document, the path or name that
 * the client sent; null if that is also unknown.
 */
export type Requested = DocumentPath | string | null

const messages: Readonly<Record<LoggedRejection['event'], string>> = {
  'socket.rejected': 'the server rejected a websocket',
  'socket.closed': 'the server closed a websocket permanently',
  'token.rejected': 'the server rejected a token',
  'token.claim_misspelled': 'a token of the identity provider has an unknown claim',
  'credentials.rejected': 'the server rejected the credentials of a call',
}

/**
 * Logs rejected websockets, tokens and credentials, and misspelled claims. Rejections with the
 * same address, reason and document share one log line that contains their number. For each address and
 * reason, up to ten documents have separate lines. All further documents are counted in one line without a
 * document.
 */
export class RejectionLog {
  readonly #recent: RecentRequests
  readonly #events: RepeatedEvents<LoggedRejection>

  /** @param recent also receives the rejected websockets and tokens, for the list of recent requests */
  constructor(clock: Clock, logger: Log, recent: RecentRequests) {
    this.#recent = recent
    this.#events = new RepeatedEvents(clock, ({ event, reason, requested, ...optional }, times) => {
      const known = Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== null))
      logger.info({ event, reason, ...known, ...requestedFields(requested), times }, messages[event])
    })
  }

  /**
   * Logs a rejected websocket. A rejection because of a drain is not logged, because a drain only moves
   * clients to another node.
   * @param owner API key of the client; null if the client is not authenticated
   * @param reason the reason for the log, if it differs from the reason that the client receives
   */
  socket(
    address: string,
    sent: Close,
    requested: Requested,
    owner: Tenant | null,
    reason = sent.reason,
  ): void {
    const { code } = sent
    if (code === closeCodes.serviceRestart) return
    this.#log({ event: 'socket.rejected', reason, code, address, requested })
    this.#keep(owner, address, requested, String(code), reason)
  }

  /**
   * Logs an upgrade request that receives an HTTP error.
   * @param url URL of the request; only its path is logged, without the query
   */
  upgrade(address: string, { httpCode: status, message: reason }: ApiError, url: string): void {
    this.#log({ event: 'socket.rejected', reason, code: null, status, address, requested: url })
    this.#keep(null, address, url, String(status), reason)
  }

  /**
   * Logs that the server has closed an open websocket with a permanent code, for example because the client
   * sent an invalid message.
   */
  closed(
    address: string,
    { code, reason }: Close,
    path: DocumentPath | null,
    owner: Tenant | null = null,
  ): void {
    this.#log({ event: 'socket.closed', reason, code, address, requested: path })
    this.#keep(owner, address, path, String(code), reason)
  }

  /**
   * Logs a rejected token.
   * @param code close code that the client receives
   */
  token(address: string, rejected: TokenRejectedError, path: DocumentPath | null, code: number): void {
    const { reason, detail, message, claimedKey } = rejected
    this.#log({ event: 'token.rejected', reason, detail, code: null, address, requested: path })
    const owner = claimedKey === null ? null : { apiKey: claimedKey, workspaceId: null }
    this.#keep(owner, address, path, String(code), message)
  }

  /**
   * Logs a misspelled claim in a token of the identity provider.
   * @param reason text that contains the claim
   */
  misspelledClaim(reason: string): void {
    this.#log({ event: 'token.claim_misspelled', reason, code: null, address: null, requested: null })
  }

  /**
   * Logs an HTTP request with wrong or missing credentials.
   * @param reason code of the error
   */
  credentials(address: string, reason: string): void {
    this.#log({ event: 'credentials.rejected', reason, code: null, address, requested: null })
  }

  /** Logs the rejections that have not been logged yet. */
  end(): void {
    this.#events.end()
  }

  #keep(
    owner: RequestOwner,
    clientAddress: string,
    requested: Requested,
    outcome: string,
    reason: string,
  ): void {
    const target = describeRequested(requested)
    this.#recent.note(owner, { kind: 'websocket', target, outcome, reason, clientAddress })
  }

  #log(rejection: LoggedRejection): void {
    const { event, reason, address, requested } = rejection
    const group = `${event} ${address} ${reason}`
    const isDocument = requested !== null && typeof requested !== 'string'
    const kind = `${group} ${isDocument ? Object.values(requested).join('/') : ''}`
    const shared = { kind: `${event} ${reason}`, event: { ...rejection, address: 'others', requested: null } }
    this.#events.note(kind, rejection, shared, { kind: group, event: { ...rejection, requested: null } })
  }
}

const requestedFields = (requested: Requested): Partial<DocumentPath> & { readonly requested?: string } => {
  if (requested === null) return {}
  if (typeof requested === 'string') return { requested: withoutSecrets(requested) }
  const { organizationId, documentId, editorId } = requested
  return { organizationId, documentId, editorId }
}

const describeRequested = (requested: Requested): string => {
  if (requested === null) return ''
  if (typeof requested === 'string') return withoutSecrets(requested)
  const { organizationId, documentId, editorId } = requested
  return [organizationId, documentId, editorId].join('/')
}

/** Maximum length of a path or name in a log line. */
const requestedLengthMax = 100
/** Matches the first character of a query. A client may percent-encode the `?`, or write `&` instead. */
const queryBegin = /[?&=;#]|%3f|%26|%3d|%3b|%23/i
/** Matches a JWT. Its header is a JSON object, so the text starts with `eyJ`. */
const jwt = /eyJ[\w.-]+/g

/** Returns the text without its query and without tokens. */
function withoutSecrets(text: string): string {
  const [path = ''] = text.split(queryBegin, 1)
  return escapeControls(shortened(path.replaceAll(jwt, '…'), requestedLengthMax))
}

interface Outage {
  readonly reason: string
  /** The log message: the operation that failed because of the outage. */
  readonly message: string
}

/**
 * Logs faults of the server that cause the rejection of a client. While the store is unavailable, all clients
 * cause the same fault: such faults are counted together, and logged without a stack trace.
 */
export class ServerFaults {
  readonly #logger: Log
  readonly #outages: RepeatedEvents<Outage>

  constructor({ logger, clock }: { readonly logger: Log; readonly clock: Clock }) {
    this.#logger = logger
    this.#outages = new RepeatedEvents(clock, ({ reason, message }, times) =>
      logger.warn({ event: 'store.unavailable', reason, times }, message),
    )
  }

  log(error: unknown, message: string): void {
    if (!(error instanceof StoreUnavailableError)) return this.#logger.error({ err: error }, message)
    const outage = { reason: error.message, message }
    this.#outages.note(message, outage, { kind: message, event: outage })
  }

  /** Logs the faults that have not been logged yet. */
  end(): void {
    this.#outages.end()
  }
}
