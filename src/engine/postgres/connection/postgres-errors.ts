import { DatabaseError } from 'pg'
import { errorMessage } from '../../../errors.ts'
import { StoreUnavailableError } from '../../engine.ts'

/** The connection has ended, or could not be made. */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError'
  constructor(cause: unknown) {
    super(errorMessage(cause), { cause })
  }
}

/** A transaction that ended without having written anything, which is certain. */
export class TransactionRolledBackError extends Error {
  override readonly name = 'TransactionRolledBackError'
  constructor(cause: unknown) {
    super(errorMessage(cause), { cause })
  }
}

/** The connection ended after the commit had been sent: nobody knows whether it has been done. */
export class OutcomeUnknownError extends Error {
  override readonly name = 'OutcomeUnknownError'
  constructor(cause: unknown) {
    super(errorMessage(cause), { cause })
  }
}

/** What PostgreSQL or the connection said. */
const rootOf = (error: unknown): unknown =>
  error instanceof TransactionRolledBackError || error instanceof OutcomeUnknownError ? error.cause : error

/** SQLSTATE, where PostgreSQL has said one. */
export const sqlStateOf = (error: unknown): string => {
  const root = rootOf(error)
  return root instanceof DatabaseError ? (root.code ?? '') : ''
}

/**
 * What anybody may read of it: the code of the system or of PostgreSQL. What they say besides names addresses and users;
 * that is for the log.
 */
export function publicErrorCode(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as { code?: unknown }
    if (typeof code === 'string') return code
  }
  return 'the log says why'
}

/** Is the connection of no more use after it? */
export function endsConnection(error: unknown): boolean {
  const root = rootOf(error)
  return (
    root instanceof ConnectionLostError ||
    (root instanceof DatabaseError && /^(FATAL|PANIC)$/.test(root.severity ?? ''))
  )
}

/** Not connected, out of disk or memory, broken files, or only readable (a standby, after a failover). */
const awayStates = /^(08|53|57P0|58|25006)/

/** Does it mean that nobody could be served now? */
export const isAway = (error: unknown): boolean => endsConnection(error) || awayStates.test(sqlStateOf(error))

/** Wrong user, password or database: until somebody changes that there is no point in trying again. */
export const isMisconfigured = (error: unknown): boolean => /^(28|3D)/.test(sqlStateOf(error))

/** Serialization, deadlock, and a row that two made at once: doing all of it again decides. */
const collisions = new Set(['40001', '40P01', '23505'])
export const isCollision = (error: unknown): boolean => collisions.has(sqlStateOf(error))

/** What a caller is told of a failure of the database; other errors stay what they are. */
export function toPublicError(error: unknown): unknown {
  const root = rootOf(error)
  if (!(root instanceof DatabaseError) && !(root instanceof ConnectionLostError)) return error
  return new StoreUnavailableError(`the database does not serve: ${errorMessage(root)}`, { cause: error })
}
