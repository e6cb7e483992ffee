import type { ImportMarkerLocation, OfflineStore } from '../../storage/offline-store.ts'
import { StorageError } from '../../storage/storage-error.ts'

/**
 * Says that a store that was empty has not taken in all of an export yet, and of which: no server starts on it, which would
 * serve half of it, and change what the rest is compared with. A store that has served something before gets none: what
 * it has is whole all the time.
 */
export class ImportMarker {
  readonly #place: ImportMarkerLocation

  private constructor(place: ImportMarkerLocation) {
    this.#place = place
  }

  /**
   * Called before anything of the export is written. Null: the store needs none.
   * @param name that tells exports apart @param store named as `into`
   * @throws StorageError where another export has been begun with
   */
  static async begin(store: OfflineStore, into: string, name: string): Promise<ImportMarker | null> {
    const found = await store.mark.read()
    if (found === null && !(await isEmpty(store))) return null
    if (found !== null && found !== '' && found !== name)
      throw new StorageError(
        `the import of another export into ${into} was interrupted: start that one again, or import this one into an empty directory`,
      )
    if (found !== name) await store.mark.write(name)
    return new ImportMarker(store.mark)
  }

  /** Called when everything is in the store. */
  end(): Promise<void> {
    return this.#place.remove()
  }
}

async function isEmpty({ entries }: OfflineStore): Promise<boolean> {
  for await (const _ of entries()) return false
  return true
}
