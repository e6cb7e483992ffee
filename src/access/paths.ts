import { folderPath } from '../directory/folder-tree.ts'
import { keys } from '../directory/organization-keys.ts'
import type { Reader } from '../directory/reader.ts'
import type { DocumentRecord } from '../directory/records.ts'
import { documentPlace, folderPlace, type Place } from './places.ts'

/** The ways up to the organization. That of a folder is read once, and shared by all that is in it. */
export class Paths {
  readonly #reader: Reader
  readonly #top: Place
  readonly #fromFolders = new Map<string, Promise<readonly Place[] | null>>()

  constructor(reader: Reader, top: Place) {
    this.#reader = reader
    this.#top = top
  }

  /** From the document upwards; null when it does not exist. */
  async ofDocument(documentId: string): Promise<readonly Place[] | null> {
    const document = await this.#reader.get<DocumentRecord>(keys.document(documentId))
    if (document === null || document.deleting === true) return null
    const above = await this.from(document.folderId)
    return above && [documentPlace(documentId, document), ...above]
  }

  /** From the folder upwards; null when it does not exist. */
  from(folderId: string): Promise<readonly Place[] | null> {
    const path = this.#fromFolders.get(folderId) ?? this.#read(folderId)
    this.#fromFolders.set(folderId, path)
    return path
  }

  async #read(folderId: string): Promise<readonly Place[] | null> {
    const folders = await folderPath(this.#reader, folderId)
    return folders && [...folders.map(folderPlace), this.#top]
  }
}
