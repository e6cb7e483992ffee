import { CorruptRecordError, type Key } from './engine.ts'

/**
 * Thrown if stored bytes differ from the bytes that were written. A caller that knows which record is damaged
 * throws a CorruptRecordError instead.
 */
export class DamagedRecordError extends Error {
  override readonly name = 'DamagedRecordError'
}

/**
 * Runs `work` and returns its result. Converts a DamagedRecordError to a CorruptRecordError whose message
 * contains `what` and `key`.
 * @throws CorruptRecordError, and all other errors of `work` unchanged
 */
export async function withRecordName<T>(what: string, key: Key, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw toCorruptRecord(what, key, error)
  }
}

export function toCorruptRecord(what: string, key: Key, error: unknown): unknown {
  if (!(error instanceof DamagedRecordError)) return error
  return new CorruptRecordError(`${what} ${JSON.stringify(key)} is damaged: ${error.message}`, {
    cause: error,
  })
}
