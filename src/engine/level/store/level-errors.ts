import { errorMessage } from '../../../errors.ts'
import { DamagedRecordError } from '../../damaged-record.ts'
import { StoreUnavailableError } from '../../engine.ts'

/** What went wrong, instead of a throw. */
export const settleError = (work: Promise<void>): Promise<{ readonly error: unknown } | null> =>
  work.then(
    () => null,
    (error: unknown) => ({ error }),
  )

/** LevelDB reads tables by maps of their files: where one has been cut it speaks of an invalid argument. */
const cutTable = /\.(ldb|sst): Invalid argument/

/** Does what LevelDB says mean that its files are damaged? */
export const isDamage = (code: string, message: string): boolean =>
  code === 'LEVEL_CORRUPTION' || (code === 'LEVEL_IO_ERROR' && cutTable.test(message))

/** The code that `level` gives an error; '' where there is none. */
export const levelErrorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

/** What a failed read means to its caller. */
export function readError(error: unknown): unknown {
  const code = levelErrorCode(error)
  if (isDamage(code, errorMessage(error)))
    return new DamagedRecordError(errorMessage(error), { cause: error })
  if (code.startsWith('LEVEL_')) {
    return new StoreUnavailableError(`the store cannot be read: ${errorMessage(error)}`, { cause: error })
  }
  return error
}
