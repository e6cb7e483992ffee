/** Actor of a call, by its credential. The last value is for a call without a valid credential. */
export type AuditActor = 'key' | 'workspace' | 'operator' | 'nobody'

export const auditActors: readonly AuditActor[] = ['key', 'workspace', 'operator', 'nobody']

/** Ids in a call, by the name of the request member that contains them. */
export type AuditedIds = Readonly<Record<string, readonly string[]>>

/** Outcome of a call that still runs, or whose outcome a crash has lost. */
export const unknownOutcome = 'UNKNOWN'
export const success = 'success'

/** One record of the audit log, as stored. It contains ids, but never content, names or secrets. */
export interface AuditRecord {
  /** Unique over all processes. Ids sort by time when they are compared as text. */
  readonly id: string
  /** Epoch milliseconds when the call arrived. For rejections, when their number was written. */
  readonly at: number
  /**
   * Path of an operation or a page, `start…` for the start of the server, or `authentication.…` for
   * rejections.
   */
  readonly operation: string
  readonly actor: AuditActor
  /**
   * API key that authenticated the call; null if there is none. For rejections, the attempted API key if it
   * exists.
   */
  readonly apiKey: string | null
  /** Address of the client; null if there is no client or if there are several. */
  readonly clientAddress: string | null
  readonly requestId: string | null
  /** `success`, the status of an error, or `UNKNOWN`. */
  readonly outcome: string
  readonly ids: AuditedIds
  /** Number of ids that exceeded the limit and are not stored. */
  readonly idsLeftOut: number
  /** First digits of the SHA-256 of the `idempotency-key` header, in hex; null without this header. */
  readonly idempotencyKeyHash: string | null
  /** True if the server only repeated the stored response of an earlier call with the same key. */
  readonly replayed: boolean
  /** Number of rejections and time of the first one; null if the record is a single call. */
  readonly refusals: Refusals | null
}

interface Refusals {
  readonly count: number
  /** Epoch milliseconds of the first rejection. */
  readonly since: number
}
