import { DatabaseError } from 'pg'
import { errorMessage } from '../../../errors.ts'
import { StoreUnavailableError } from '../../engine.ts'

/** The connection has ended, or could not be opened. */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError'
  constructor(cause: unknown) {
    super(errorMessage(cause), { cause })
  }
}

/** A transaction that certainly wrote nothing. */
export class TransactionRolledBackError extends Error {
  override readonly name = 'TransactionRolledBackError'
  constructor(cause: unknown) {
    super(errorMessage(cause), { cause })
  }
}

/** The connection ended after the commit was sent, so the outcome of the transaction is unknown. */
export class OutcomeUnknownError extends Error {
  override readonly name = 'OutcomeUnknownError'
  constructor(cause: unknown) {
    super(errorMessage(cause), { cause })
  }
}

/**
 * Returns the original error of PostgreSQL or of the connection, without the error of this file that wraps
 * it.
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
 * The message contains addresses and user names, so it appears only in the server log.
 */
export function publicErrorCode(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as { code?: unknown }
    if (typeof code === 'string') return code
  }
  return 'see the server log for the cause'
}

/** Returns whether the connection cannot be used after the error. */
export function endsConnection(error: unknown): boolean {
  const root = rootOf(error)
  return (
    root instanceof ConnectionLostError ||
    (root instanceof DatabaseError && /^(FATAL|PANIC)$/.test(root.severity ?? ''))
  )
}

/**
 * SQLSTATEs that mean: not connected, no free disk space or memory, broken files, or read-only (a standby
 * after a failover).
 */
const awayStates = /^(08|53|57P0|58|25006)/

/** Returns whether the error means that the database is unavailable. */
export const isAway = (error: unknown): boolean => endsConnection(error) || awayStates.test(sqlStateOf(error))

/**
 * Returns whether the user, the password or the database name is wrong. Retrying is useless until the
 * operator corrects it.
 */
export const isMisconfigured = (error: unknown): boolean => /^(28|3D)/.test(sqlStateOf(error))

/**
 * SQLSTATEs of collisions: serialization failure, deadlock, and a row that two transactions created
 * simultaneously. Repeating the whole transaction resolves a collision.
 */
const collisions = new Set(['40001', '40P01', '23505'])
export const isCollision = (error: unknown): boolean => collisions.has(sqlStateOf(error))

/** Converts an error of the database to an error for callers. Returns other errors unchanged. */
export function toPublicError(error: unknown): unknown {
  const root = rootOf(error)
  if (!(root instanceof DatabaseError) && !(root instanceof ConnectionLostError)) return error
  return new StoreUnavailableError(`the database is not available: ${errorMessage(root)}`, { cause: error })
}
