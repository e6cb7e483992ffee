import { AppendRefused } from '../engine/engine.ts'
import { messageOf } from '../errors.ts'
import { type Close, close } from '../model/close.ts'
import { BrokenDocument } from './intake.ts'
import { DamagedDocument } from './quarantine.ts'

/** Why sessions end when their document is deleted. */
export const deleted = close('notFound', 'the document was deleted')

/** The log has been deleted, or was and has been made anew: what is here must not come back. */
export const isDeletion = (error: unknown): boolean =>
  error instanceof AppendRefused && (error.reason === 'deleted' || error.reason === 'epoch')

/** Why sessions end when their room has failed: they come back, and it is loaded anew. */
export const reloaded = (error: unknown): Close =>
  close(
    'overloaded',
    `the document is reloaded: ${error instanceof AppendRefused ? messageOf(error) : 'try again'}`,
  )

/** Applying something is often what makes Yjs read the rest. */
export function damageIn(error: unknown): DamagedDocument | null {
  if (error instanceof DamagedDocument) return error
  return error instanceof BrokenDocument && error.cause instanceof DamagedDocument ? error.cause : null
}
