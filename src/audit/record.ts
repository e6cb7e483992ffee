/** Who did it: by what they had to show. `nobody` showed nothing that is valid. */
export type AuditActor = 'key' | 'workspace' | 'operator' | 'nobody'

export const auditActors: readonly AuditActor[] = ['key', 'workspace', 'operator', 'nobody']

/** Ids that a call names, by the name of the member that holds them. */
export type AuditedIds = Readonly<Record<string, readonly string[]>>

/** Of a call that has not ended yet, or whose end was lost with the process. */
export const unknownOutcome = 'UNKNOWN'
export const success = 'success'

/** One line of the audit log, as it is stored. It has ids, and never content, names or secrets. */
export interface AuditRecord {
  /** Sorts as text as time does, and tells records of all processes apart. */
  readonly id: string
  /** Epoch milliseconds: when the call came; of refusals, when they were counted. */
  readonly at: number
  /** Path of an operation or a page, `start…`, or `authentication.…` of refusals. */
  readonly operation: string
  readonly actor: AuditActor
  /** That was shown, or, of refusals, that was tried and exists; null: none. */
  readonly apiKey: string | null
  /** Null where there is no client, or there are many. */
  readonly clientAddress: string | null
  readonly requestId: string | null
  /** `success`, the status of an error, or `UNKNOWN`. */
  readonly outcome: string
  readonly ids: AuditedIds
  /** Ids that were too many to be kept. */
  readonly idsLeftOut: number
  /** Start of the SHA-256 of the `idempotency-key` header, in hex; null: none was sent. */
  readonly idempotencyKeyHash: string | null
  /** It was answered what was answered to an earlier call with its key, and nothing was done. */
  readonly replayed: boolean
  /** Of refusals: how many, and since when; null: it stands for itself. */
  readonly refusals: Refusals | null
}

interface Refusals {
  readonly count: number
  /** Epoch milliseconds of the first of them. */
  readonly since: number
}
