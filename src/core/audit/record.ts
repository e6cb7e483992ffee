import type { Key } from '../store/engine.ts'

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

/**
 * Identifies a log: the id of the workspace to which the log belongs, or null for the log of the operator,
 * which no workspace can read.
 */
export type AuditScope = string | null

/** Returns the partition that contains a log. */
export const auditPart = (place: AuditScope): Key =>
  place === null ? ['audit'] : ['audit', 'workspace', place]

/** Number of digits of the time in an id. This number suffices for epoch milliseconds up to the year 9999. */
const timeDigits = 15
/** Character between the time and the rest of an id. It sorts before `afterTime`. */
const separator = '-'
const afterTime = '~'

export const auditKeys = {
  /** Prefix of all records. Records are sorted by time. */
  records: ['records'],
  record: (id: string): Key => ['records', id],
  /** Returns a key that sorts before every record of this millisecond. */
  startOf: (at: number): Key => ['records', padded(at)],
  /** Returns a key that sorts after every record of this millisecond. */
  endOf: (at: number): Key => ['records', padded(at) + afterTime],
}

export const auditId = (at: number, rest: string): string => padded(at) + separator + rest

/**
 * Returns a time as text with 15 digits, so that all ids have the same length. A time that has more digits is
 * replaced by the maximum.
 */
const padded = (at: number): string => String(Math.min(at, 10 ** timeDigits - 1)).padStart(timeDigits, '0')
