import { randomBytes } from 'node:crypto'
import * as s from '../../../core/base/schema.ts'
import type { Key, Kv } from '../../../core/store/engine.ts'
import { encodeRecord, readRecord } from '../../../core/store/stored-record.ts'

/** Partition of the record of the place. */
export const placePart: Key = ['objectPlace']
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
