import { Level } from 'level'
import { errorMessage } from '../../../base/errors.ts'
import { StoreUnavailableError } from '../../engine.ts'
import { DamagedRecordError } from '../../stored-record.ts'

/** Waits for `work`. Returns its error instead of rejecting; null if `work` succeeds. */
export const settleError = (work: Promise<void>): Promise<{ readonly error: unknown } | null> =>
  work.then(
    () => null,
    (error: unknown) => ({ error }),
  )

/**
 * Matches the error that LevelDB reports for a truncated table file. It is "Invalid argument", because
 * LevelDB maps table files into memory.
 */
const cutTable = /\.(ldb|sst): Invalid argument/

/** Returns whether an error of LevelDB means that its files are damaged. */
export const isDamage = (code: string, message: string): boolean =>
  code === 'LEVEL_CORRUPTION' || (code === 'LEVEL_IO_ERROR' && cutTable.test(message))

/** Returns the error code that the library `level` has set; '' if the error has no code. */
export const levelErrorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

/** Converts the error of a failed read to the error that the caller of the engine gets. */
export function readError(error: unknown): unknown {
  const code = levelErrorCode(error)
  if (isDamage(code, errorMessage(error)))
    return new DamagedRecordError(errorMessage(error), { cause: error })
  if (code.startsWith('LEVEL_')) {
    return new StoreUnavailableError(`the store cannot be read: ${errorMessage(error)}`, { cause: error })
  }
  return error
}

/**
 * Checks that no other process has the store in `directory` open. Does not read the store.
 * @throws the error of `level` if another process has the store open
 */
export async function requireUnlocked(directory: string): Promise<void> {
  // LevelDB locks the store before it checks whether the store exists. With `errorIfExists`, opening
  // therefore always fails without reading the store: because of the lock, or because the store exists.
  const database = new Level(directory, { createIfMissing: false, errorIfExists: true })
  const failure = await settleError(database.open())
  await database.close()
  const cause = failure?.error instanceof Error ? failure.error.cause : null
  if (levelErrorCode(cause) === 'LEVEL_LOCKED') throw failure?.error
}
