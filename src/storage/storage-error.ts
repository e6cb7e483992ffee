import { OperatorError } from '../errors.ts'

/** A command on stored data has failed. The message is a sentence for the operator. */
export class StorageError extends OperatorError {
  override readonly name = 'StorageError'
}

/** Reports the progress of a command. Shares are from 0 to 1. */
export type Progress = (step: string, share: number) => void
