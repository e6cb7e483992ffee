import { CorruptRecord, type Key } from './engine.ts'

/** What is stored is not what was written. Whoever knows its name says so in a CorruptRecord. */
export class DamagedRecord extends Error {
  override readonly name = 'DamagedRecord'
}

/** Names what is damaged. @throws CorruptRecord for a DamagedRecord of `work`; what else it throws */
export async function named<T>(what: string, key: Key, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw namedError(what, key, error)
  }
}

export function namedError(what: string, key: Key, error: unknown): unknown {
  if (!(error instanceof DamagedRecord)) return error
  return new CorruptRecord(`${what} ${JSON.stringify(key)} is damaged: ${error.message}`, { cause: error })
}
