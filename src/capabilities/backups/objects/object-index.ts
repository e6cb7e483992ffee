import { randomBytes, randomUUID } from 'node:crypto'
import type { Clock } from '../../../core/base/clock.ts'
import * as s from '../../../core/base/schema.ts'
import { readPayload } from '../../../core/jobs/job-payload.ts'
import type { Job, Key, Kv } from '../../../core/store/engine.ts'
import { encodeKey } from '../../../core/store/key-encoding.ts'
import { entryPages } from '../../../core/store/pages.ts'
import { dueSpace } from '../../../core/store/pairs/job-records.ts'
import { keyspaces, under } from '../../../core/store/pairs/keyspaces.ts'
import type { ObjectReference } from '../../../core/store/pairs/stored-blob.ts'
import { encodeRecord, readRecord } from '../../../core/store/stored-record.ts'

/** Partition of the record of the place. */
const placePart: Key = ['objectPlace']
const key: Key = ['place']

/** State of the place of a store. */
const objectPlaceType = {
  name: 'object place',
  schema: s.object({
    /** Random id, which the place also has. */
    id: s.string,
    isReserved: s.boolean,
  }),
}
export type StoredPlace = s.TypeOf<typeof objectPlaceType.schema>

/**
 * Returns the state of the place, if this entry is its record; null for another entry.
 * @throws MalformedJsonError if the record is malformed
 */
export const placeIn = (part: Key, key: Key, value: Uint8Array): StoredPlace | null =>
  part.length === 1 && part[0] === placePart[0] ? readRecord(objectPlaceType, { key, value }) : null

/**
 * Record of a store about the place of its objects. A place has the same id as the store, so a mistyped address, or
 * a restored copy of a store with the address of the original one, is recognized before an object is written or
 * deleted.
 */
export class ObjectPlace {
  readonly #kv: Kv

  constructor(kv: Kv) {
    this.#kv = kv
  }

  /** Returns the record; null if the store has none. */
  async read(): Promise<StoredPlace | null> {
    const [value = null] = await this.#kv.get(placePart, [key])
    return value === null ? null : readRecord(objectPlaceType, { key, value })
  }

  /** Returns the record. Creates it if the store has none. */
  async create(): Promise<StoredPlace> {
    for (;;) {
      const found = await this.read()
      if (found !== null) return found
      const value = encodeRecord({ id: randomBytes(16).toString('hex'), isReserved: false })
      // If another node creates the record meanwhile, that record is read.
      await this.#kv.commit(placePart, { checks: [{ key, value: null }], puts: [{ key, value }] })
    }
  }

  /** Notes that the place has the id. */
  async reserve(id: string): Promise<void> {
    const value = encodeRecord({ id, isReserved: true } satisfies StoredPlace)
    await this.#kv.commit(placePart, { puts: [{ key, value }] })
  }
}

/** Queue of the checks whether a blob still refers to an object. */
export const objectQueue = 'objects'
/** Partition of the records of all objects. Key: the key of the blob, and the name of the object. */
const objectPart: Key = ['objects']

/**
 * Time in ms for which an object stays after its blob was deleted or replaced, or after it was written without a
 * blob. A backup that reads an earlier state of the store thus finds all objects for this time.
 */
const settleMs = 86_400_000

const entriesAtOnce = 1_000

const objectRecordType = {
  name: 'object',
  schema: s.object({
    /** Bytes that count as stored: the size of the content, or 0 if no blob refers to the object any more. */
    bytes: s.number,
    /** Time in epoch milliseconds after which the object is deleted unless its blob refers to it. */
    settledAt: s.number,
  }),
}
type ObjectRecord = s.TypeOf<typeof objectRecordType.schema>

/** The check whether the blob with this key refers to an object. */
export interface ObjectCheck {
  readonly key: Key
  readonly name: string
}

const checkSchema = s.object({ key: s.array(s.string), name: s.string })

/** @throws MalformedJobError */
export const readObjectCheck = (payload: Uint8Array): ObjectCheck => readPayload(checkSchema, payload)

/**
 * Records of all objects that exist or may exist. A record is written before its object, and deleted after it. Each
 * write of a record enqueues a check, which deletes the object if no blob refers to it.
 */
export class ObjectIndex {
  readonly #kv: Kv
  readonly #clock: Clock

  constructor(kv: Kv, clock: Clock) {
    this.#kv = kv
    this.#clock = clock
  }

  /** Records that an object may exist from now on. */
  recordObject(key: Key, { name, bytes }: ObjectReference): Promise<void> {
    return this.#write({ key, name }, bytes)
  }

  /** Records that the blob is about to be deleted or replaced, or that the object was not written. */
  recordRemoval(key: Key, { name }: ObjectReference): Promise<void> {
    return this.#write({ key, name }, 0)
  }

  /** Returns the time in ms until the object may be deleted, at least 0; null if the object has no record. */
  async settlesInMs({ key, name }: ObjectCheck): Promise<number | null> {
    const at = [...key, name]
    const [value = null] = await this.#kv.get(objectPart, [at])
    if (value === null) return null
    return Math.max(0, readRecord(objectRecordType, { key: at, value }).settledAt - this.#clock.now())
  }

  async remove({ key, name }: ObjectCheck): Promise<void> {
    await this.#kv.commit(objectPart, { dels: [[...key, name]] })
  }

  /** Returns the total size of the contents of blobs whose keys start with one of these prefixes. */
  async storedBytes(prefixes: readonly Key[]): Promise<number> {
    let sum = 0
    for (const prefix of prefixes)
      for await (const page of entryPages((range) => this.#kv.scan(objectPart, range), {
        prefix,
        limit: entriesAtOnce,
      }))
        for (const entry of page) sum += readRecord(objectRecordType, entry).bytes
    return sum
  }

  async isEmpty(): Promise<boolean> {
    return (await this.#kv.scan(objectPart, { limit: 1 })).length === 0
  }

  async #write(check: ObjectCheck, bytes: number): Promise<void> {
    const settledAt = this.#clock.now() + settleMs
    const key = [...check.key, check.name]
    const value = encodeRecord({ bytes, settledAt } satisfies ObjectRecord)
    await this.#kv.commit(objectPart, { puts: [{ key, value }], jobs: [checkJob(check, settledAt)] })
  }
}

const checkJob = (check: ObjectCheck, at: number): Job => ({
  queue: objectQueue,
  id: randomUUID(),
  isNew: true,
  at,
  payload: Buffer.from(JSON.stringify(check)),
})

const ownPrefixes = [
  under(keyspaces.kv, encodeKey(objectPart)),
  under(keyspaces.kv, encodeKey(placePart)),
  Buffer.concat([keyspaces.jobs, encodeKey([objectQueue])]),
  dueSpace(objectQueue),
]

/** Returns whether a stored pair belongs to the records of objects, or to their checks. */
export const isOfObjectIndex = (key: Uint8Array): boolean =>
  ownPrefixes.some((prefix) => Buffer.compare(prefix, key.subarray(0, prefix.length)) === 0)

/** Returns the name of an object, if this is the key of its record; null for another key. */
export const objectNameIn = (part: Key, key: Key): string | null =>
  part.length === 1 && part[0] === objectPart[0] ? (key.at(-1) ?? null) : null

/** Returns whether a partition has records about objects. */
export const isObjectPart = (part: Key): boolean =>
  part.length === 1 && (part[0] === objectPart[0] || part[0] === placePart[0])
