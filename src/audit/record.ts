/** Actor of a call, by its credential. The last value is for a call without a valid credential. */
export type AuditActor = 'key' | 'workspace' | 'operator' | 'nobody'

export const auditActors: readonly AuditActor[] = ['key', 'workspace', 'operator', 'nobody']

/** Ids that a call names, by the name of the member that contains them. */
export type AuditedIds = Readonly<Record<string, readonly string[]>>

/** Outcome of a call that has not ended, or whose outcome was lost in a crash. */
export const unknownOutcome = 'UNKNOWN'
export const success = 'success'

/** One record of the audit log, as stored. It contains ids, but never content, names or secrets. */
export interface AuditRecord {
  /** Sorts as text in order of time, and is unique over all processes. */
  readonly id: string
  /** Epoch milliseconds: when the call arrived. For rejections, when they were counted. */
  readonly at: number
  /** Path of an operation or a page, or `start…`. Rejections have `authentication.…`. */
  readonly operation: string
  readonly actor: AuditActor
  /**
   * The API key that authenticated the call. For rejections, the key that was tried, if it exists. Null if there is
   * none.
   */
  readonly apiKey: string | null
  /** Null if there is no client or if there are several. */
  readonly clientAddress: string | null
  readonly requestId: string | null
  /** `success`, the status of an error, or `UNKNOWN`. */
  readonly outcome: string
  readonly ids: AuditedIds
  /** Number of ids that were over the limit and are not stored. */
  readonly idsLeftOut: number
  /** Start of the SHA-256 of the `idempotency-key` header, in hex; null if the call had none. */
  readonly idempotencyKeyHash: string | null
  /** True if the server repeated the stored response of an earlier call with the same key, and did nothing else. */
  readonly replayed: boolean
  /** Number and start of rejections; null if the record is a single call. */
  readonly refusals: Refusals | null
}

interface Refusals {
  readonly count: number
  /** Epoch milliseconds of the first rejection. */
  readonly since: number
}
