import { CorruptRecordError, type Key } from './engine.ts'

/** What is stored is not what was written. Whoever knows its name says so in a CorruptRecordError. */
export class DamagedRecordError extends Error {
  override readonly name = 'DamagedRecordError'
}

/** Names what is damaged. @throws CorruptRecordError for a DamagedRecordError of `work`; what else it throws */
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
