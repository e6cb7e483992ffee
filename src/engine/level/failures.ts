import { messageOf } from '../../errors.ts'
import { StoreUnavailable } from '../engine.ts'
import { DamagedRecord } from '../named-damage.ts'

/** What went wrong, instead of a throw. */
export const failureOf = (work: Promise<void>): Promise<{ readonly error: unknown } | null> =>
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
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

/** What a failed read means to its caller. */
export function readError(error: unknown): unknown {
  const code = codeOf(error)
  if (isDamage(code, messageOf(error))) return new DamagedRecord(messageOf(error), { cause: error })
  if (code.startsWith('LEVEL_')) {
    return new StoreUnavailable(`the store cannot be read: ${messageOf(error)}`, { cause: error })
  }
  return error
}
