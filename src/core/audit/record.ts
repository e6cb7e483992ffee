/**
 * The actor of a call, according to the credential of the call. The last value means that the call had no
 * valid credential.
 */
export type AuditActor = 'key' | 'agent' | 'workspace' | 'operator' | 'nobody'

export const auditActors: readonly AuditActor[] = ['key', 'agent', 'workspace', 'operator', 'nobody']

/** The ids that a call contains, by the name of the request member. */
export type AuditedIds = Readonly<Record<string, readonly string[]>>

/** The agent that made a call. */
export interface AuditedAgent {
  readonly id: string
  readonly model: string | null
  readonly onBehalfOf: string | null
}

/** Outcome of a call that is still running, or whose outcome was lost in a crash. */
export const unknownOutcome = 'UNKNOWN'
export const success = 'success'

/**
 * One record of the audit log, as it is stored. A record contains ids, but never content, names or secrets.
 */
export interface AuditRecord {
  /** Id of the record, unique among all processes. When ids are compared as text, they sort by time. */
  readonly id: string
  /**
   * Time at which the call arrived, in epoch milliseconds. For counted rejections, the time at which their
   * number was written.
   */
  readonly at: number
  /**
   * Path of an operation or a page; `start…` for the start of the server; `authentication.…` for counted
   * rejections.
   */
  readonly operation: string
  readonly actor: AuditActor
  /**
   * API key that authenticated the call; null if no API key did. For counted rejections, the API key that the
   * clients tried, if it exists.
   */
  readonly apiKey: string | null
  /** The agent that made the call; null if a backend made it. Absent in records of earlier versions. */
  readonly agent?: AuditedAgent | null | undefined
  /** Name of the MCP tool that made the call; null if none did. Absent in records of earlier versions. */
  readonly tool?: string | null | undefined
  /** Address of the client; null if there is no client, or if the record counts several clients. */
  readonly clientAddress: string | null
  readonly requestId: string | null
  /** `success`, the status of an error, or `UNKNOWN`. */
  readonly outcome: string
  readonly ids: AuditedIds
  /** Number of ids that are not stored, because the call contained more than the limit. */
  readonly idsLeftOut: number
  /**
   * First digits of the SHA-256 of the header `idempotency-key`, in hex; null if the call did not have this
   * header.
   */
  readonly idempotencyKeyHash: string | null
  /**
   * True if the server did not run the call, but repeated the stored response of an earlier call with the
   * same `idempotency-key`.
   */
  readonly replayed: boolean
  /**
   * Number of counted rejections, and the time of the first one. Null if the record describes a single call.
   */
  readonly refusals: Refusals | null
}

interface Refusals {
  readonly count: number
  /** Time of the first rejection, in epoch milliseconds. */
  readonly since: number
}
