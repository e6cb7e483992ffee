import { messageOf } from '../../errors.ts'
import { StoreUnavailable } from '../engine.ts'
import { DamagedRecord } from './records.ts'

/** What went wrong, instead of a throw. */
export const failureOf = (work: Promise<void>): Promise<{ readonly error: unknown } | null> =>
  work.then(
    () => null,
    (error: unknown) => ({ error }),
  )

/** What a failed read means to its caller. */
export function readError(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'LEVEL_CORRUPTION') return new DamagedRecord(messageOf(error), { cause: error })
  if (code.startsWith('LEVEL_')) {
    return new StoreUnavailable(`the store cannot be read: ${messageOf(error)}`, { cause: error })
  }
  return error
}
