import { checkJson, MalformedJsonError, readJson } from '../base/json.ts'
import * as s from '../base/schema.ts'
import { CorruptRecordError, type Key, type KvEntry } from './engine.ts'

/** Describes a type of stored records. */
export interface RecordType<R extends object> {
  /** Name of the type in error messages, such as `webhook endpoint`. */
  readonly name: string
  /**
   * Schema of the required members. Its objects are loose, so that records with additional members of a newer
   * version are accepted.
   */
  readonly schema: s.SchemaOf<R>
}

/** The type of a record of which no member is read. */
export const anyRecordType: RecordType<object> = { name: 'record', schema: s.object({}) }

export const encodeRecord = (record: object): Uint8Array => Buffer.from(JSON.stringify(record))

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** Decodes bytes that `encodeRecord` has encoded. Does not check the record. */
export const decodeRecord = (bytes: Uint8Array): unknown => JSON.parse(utf8.decode(bytes))

/**
 * Decodes bytes that `encodeRecord` has encoded, and checks the record.
 * @throws MalformedJsonError with the type and the key of the record
 */
export const readRecord = <R extends object>(type: RecordType<R>, { key, value }: KvEntry): R =>
  named(type, key, () => readJson(type.schema, value))

/**
 * Checks a record that is already decoded, like `readRecord`.
 * @param key the key of the record, for the error message
 * @throws MalformedJsonError
 */
export const checkedRecord = <R extends object>(type: RecordType<R>, key: Key, record: object): R =>
  named(type, key, () => checkJson(type.schema, record))

function named<T>({ name }: RecordType<object>, key: Key, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (!(cause instanceof MalformedJsonError)) throw cause
    const message = `the stored ${name} ${JSON.stringify(key)} is malformed: ${cause.message}`
    throw new MalformedJsonError(message, { cause })
  }
}

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
