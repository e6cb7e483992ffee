import { randomBytes } from 'node:crypto'
import type { Clock } from '../../../core/base/clock.ts'
import * as s from '../../../core/base/schema.ts'
import { type Config, environmentOf } from '../../../core/config/config.ts'
import type { Key, Kv } from '../../../core/store/engine.ts'
import { encodeRecord, type RecordType, readRecord } from '../../../core/store/stored-record.ts'
import { parseBackupKey } from '../backup-key.ts'
import { openObjectStore } from '../open-object-store.ts'
import { type Finding, judge, ok } from '../storage/finding.ts'
import { SealedObjects, type SealedObjectsOptions } from './sealed-objects.ts'

/**
 * Opens the object storage of saved versions; null if none is configured. Checks its settings, but does not connect
 * to it, so that a server starts while it is not available.
 * @throws StorageError, ConfigError
 */
export async function openObjects(
  { versionsTo, versionsKey }: Pick<Config, 'versionsTo' | 'versionsKey'>,
  options: Pick<SealedObjectsOptions, 'onChange' | 'metrics'> & { readonly clock: Clock },
): Promise<SealedObjects | null> {
  if (versionsTo === null) return null
  const key = parseBackupKey(versionsKey ?? '', environmentOf('versionsKey'))
  return new SealedObjects({ ...options, store: await openObjectStore(versionsTo, options.clock), key })
}

/** Checks that the object storage of saved versions can be used. Returns nothing if none is configured. */
export async function examineObjects(config: Config, clock: Clock): Promise<readonly Finding[]> {
  if (config.versionsTo === null) return []
  const probed = await judge(async () => {
    const objects = await openObjects(config, { clock })
    const startedAt = performance.now()
    await objects?.probe()
    const ms = Math.round(performance.now() - startedAt)
    return ok(`${objects?.name} can be written and read (${ms} ms for three calls)`)
  })
  return [{ name: 'version storage', ...probed }]
}

/** Partition of the record of the place. */
export const placePart: Key = ['objectPlace']
const key: Key = ['place']

/** State of the place of a store. */
export interface StoredPlace {
  /** Random id, which the place also has. */
  readonly id: string
  readonly isReserved: boolean
}

const objectPlaceType: RecordType<StoredPlace> = {
  name: 'object place',
  schema: s.object({ id: s.string, isReserved: s.boolean }),
}

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
