import { OperatorError } from '../../../core/base/errors.ts'

/** Thrown if a command on stored data fails. The message is a sentence for the operator. */
export class StorageError extends OperatorError {
  override readonly name = 'StorageError'
}

/** Reports the progress of a command. `share` is the completed part of the step, from 0 to 1. */
export type Progress = (step: string, share: number) => void
