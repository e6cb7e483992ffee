import { ApiError, errorMessage } from '../../base/errors.ts'
import { type Close, close } from '../../model/close.ts'
import { limitOf } from '../../quota/limits.ts'
import { AppendRejectedError, NotOwnerError, StoreUnavailableError } from '../../store/engine.ts'
import { DocumentDamagedError } from '../document/unreadable-documents.ts'
import { UpdateApplyError } from '../updates/update-applier.ts'

/** Close reason for the sessions of a deleted document. */
export const documentDeleted = close('notFound', 'the document was deleted')

/** Close reason for the sessions of a document that this node does not own any more. */
export const documentMoved = close('serviceRestart', 'the document moved to another node')

/**
 * Returns whether an append failed because the log was deleted, or was deleted and created again. In both
 * cases the document in memory must not be stored again.
 */
export const isDeletion = (error: unknown): boolean =>
  error instanceof AppendRejectedError && (error.reason === 'deleted' || error.reason === 'epoch')

/** Returns whether a log has rejected an append because something else owns the document or has appended to it. */
export const isMoved = (error: unknown): boolean =>
  error instanceof AppendRejectedError && error.reason !== 'fence'

/**
 * Returns the close reason for the sessions of a failed room. Their clients reconnect, and the room is loaded
 * again.
 */
export function roomReloaded(error: unknown): Close {
  const limit = limitOf(error)
  if (limit !== null) return close('tryAgainLater', errorMessage(error), limit)
  return close('tryAgainLater', 'document reloaded after an error; reconnect')
}

/**
 * Returns the DocumentDamagedError if it is the error itself or its cause; otherwise null. Damaged bytes are
 * often noticed only when an update is applied.
 */
export function damageIn(error: unknown): DocumentDamagedError | null {
  if (error instanceof DocumentDamagedError) return error
  return error instanceof UpdateApplyError && error.cause instanceof DocumentDamagedError ? error.cause : null
}

/** Rethrows an ApiError; throws an ApiError UNAVAILABLE for any other error. @throws ApiError */
export function toUnavailable(cause: unknown): never {
  // If a permission has ended, the store has not failed.
  if (cause instanceof ApiError) throw cause
  throw new ApiError('server/store-unavailable', 'the change could not be stored; try again', { cause })
}

export const headConflict = (): ApiError =>
  new ApiError('crdt/document-changed', 'the document has moved on; try again')

export const roomClosing = (): ApiError =>
  new ApiError('server/store-unavailable', 'the document is being closed; try again')

export const recreated = (): ApiError =>
  new ApiError('crdt/document-changed', 'the document was deleted or created again; try again')

/** Limits that stay reached, however long a change waits. */
const lastingLimits: readonly unknown[] = [
  'maxStoredBytesPerWorkspace',
  'threadJobSeconds',
  'integrationSteps',
]

/** Returns whether a change in the background can succeed later. */
export const isTransient = (error: unknown): boolean =>
  error instanceof StoreUnavailableError ||
  error instanceof NotOwnerError ||
  (error instanceof ApiError &&
    ['UNAVAILABLE', 'ABORTED', 'RESOURCE_EXHAUSTED'].includes(error.status) &&
    !lastingLimits.includes(error.details?.limit))
