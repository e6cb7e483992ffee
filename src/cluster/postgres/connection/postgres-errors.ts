import { DatabaseError } from 'pg'
import { errorCode, errorMessage } from '../../../core/base/errors.ts'
import { StoreUnavailableError } from '../../../core/store/engine.ts'

/** An error with the message of its cause. */
class WrappedError extends Error {
  constructor(cause: unknown) {
    super(errorMessage(cause), { cause })
  }
}

/** Thrown if the connection has ended or could not be opened. */
export class ConnectionLostError extends WrappedError {
  override readonly name = 'ConnectionLostError'
}

/** Thrown if a transaction has certainly written nothing. */
export class TransactionRolledBackError extends WrappedError {
  override readonly name = 'TransactionRolledBackError'
}

/**
 * Thrown if the connection ended after the commit was sent. The outcome of the transaction is then unknown.
 */
export class OutcomeUnknownError extends WrappedError {
  override readonly name = 'OutcomeUnknownError'
}

/**
 * Returns the original error of PostgreSQL or of the connection. For an error of this file, this is its
 * cause.
 */
const rootOf = (error: unknown): unknown =>
  error instanceof TransactionRolledBackError || error instanceof OutcomeUnknownError ? error.cause : error

/** Returns the SQLSTATE of an error; '' if the error has none. */
export const sqlStateOf = (error: unknown): string => {
  const root = rootOf(error)
  return root instanceof DatabaseError ? (root.code ?? '') : ''
}

/**
 * Returns the part of an error that clients may see: the error code of the operating system or of PostgreSQL.
 * The message of the error is only written to the server log, because it contains addresses and user names.
 */
export function publicErrorCode(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    const code = errorCode(at)
    if (typeof code === 'string') return code
  }
  return 'see the server log for the cause'
}

/** Returns whether the outcome of a transaction is unknown. `error` may be the result of `toPublicError`. */
export const isOutcomeUnknown = (error: unknown): boolean =>
  (error instanceof StoreUnavailableError ? error.cause : error) instanceof OutcomeUnknownError

/** Returns whether the error makes the connection unusable. */
export function endsConnection(error: unknown): boolean {
  const root = rootOf(error)
  return (
    root instanceof ConnectionLostError ||
    (root instanceof DatabaseError && /^(FATAL|PANIC)$/.test(root.severity ?? ''))
  )
}

/**
 * Matches SQLSTATEs with these meanings: not connected, no free disk space or memory, broken files, or
 * read-only (a standby after a failover).
 */
const awayStates = /^(08|53|57P0|58|25006)/

/** Returns whether the error means that the database is unavailable. */
export const isAway = (error: unknown): boolean => endsConnection(error) || awayStates.test(sqlStateOf(error))

/**
 * Returns whether the error means that the user, the password or the name of the database is wrong. Retrying
 * is useless until the operator corrects the configuration.
 */
export const isMisconfigured = (error: unknown): boolean => /^(28|3D)/.test(sqlStateOf(error))

/**
 * SQLSTATEs of collisions between transactions: serialization failure, deadlock, and a row that two
 * transactions created simultaneously. A collision is resolved by repeating the whole transaction.
 */
const collisions = new Set(['40001', '40P01', '23505'])
export const isCollision = (error: unknown): boolean => collisions.has(sqlStateOf(error))

/** Converts an error of the database to an error for callers. Returns other errors unchanged. */
export function toPublicError(error: unknown): unknown {
  const root = rootOf(error)
  if (!(root instanceof DatabaseError) && !(root instanceof ConnectionLostError)) return error
  return new StoreUnavailableError(`the database is not available: ${errorMessage(root)}`, { cause: error })
}
