import { OperatorError } from '../errors.ts'

/** A command on stored data cannot do what it was asked for. The message is a sentence for the operator. */
export class StorageError extends OperatorError {
  override readonly name = 'StorageError'
}

/** How far a command has come. Shares go from 0 to 1. */
export type Progress = (step: string, share: number) => void
