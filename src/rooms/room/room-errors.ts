import { AppendRejectedError } from '../../engine/engine.ts'
import { errorMessage } from '../../errors.ts'
import { type Close, close } from '../../model/close.ts'
import { limitOf } from '../../quota/limits.ts'
import { isFenced } from '../log/commits.ts'
import { DocumentDamagedError } from './quarantine.ts'
import { UpdateApplyError } from './update-applier.ts'

/** Why sessions end when their document is deleted. */
export const documentDeleted = close('notFound', 'the document was deleted')

/** The log has been deleted, or was and has been made anew: what is here must not come back. */
export const isDeletion = (error: unknown): boolean =>
  error instanceof AppendRejectedError && (error.reason === 'deleted' || error.reason === 'epoch')

/** Why sessions end when their room has failed: they come back, and it is loaded anew. */
export function roomReloaded(error: unknown): Close {
  const limit = limitOf(error)
  if (limit !== null) return close('tryAgainLater', errorMessage(error), limit)
  if (isFenced(error))
    return close('tryAgainLater', 'the document is reloaded: the permission for an update has ended')
  return close(
    'tryAgainLater',
    `the document is reloaded: ${error instanceof AppendRejectedError ? errorMessage(error) : 'try again'}`,
  )
}

/** Applying something is often what makes Yjs read the rest. */
export function damageIn(error: unknown): DocumentDamagedError | null {
  if (error instanceof DocumentDamagedError) return error
  return error instanceof UpdateApplyError && error.cause instanceof DocumentDamagedError ? error.cause : null
}
