import type { ImportMarkerLocation, OfflineStore } from '../../backups/storage/offline-store.ts'
import { StorageError } from '../../backups/storage/storage-error.ts'

/**
 * Marks a store whose first import is not complete. The marker contains the name of the export. No server
 * starts on a store with a marker. Otherwise, the server would serve only a part of the data, and could
 * change values that the import has not compared yet. A store that was in use before the import gets no
 * marker, because its own data is always complete.
 */
export class ImportMarker {
  readonly #place: ImportMarkerLocation

  private constructor(place: ImportMarkerLocation) {
    this.#place = place
  }

  /**
   * Writes the marker. Call this method before any data of the export is written. Returns null if the store
   * needs no marker.
   * @param into name of the store for messages
   * @param name name of the export, which identifies it
   * @throws StorageError if the import of another export was interrupted
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

  /** Removes the marker. Call this method when all data is stored. */
  end(): Promise<void> {
    return this.#place.remove()
  }
}

async function isEmpty({ entries }: OfflineStore): Promise<boolean> {
  for await (const _ of entries()) return false
  return true
}
