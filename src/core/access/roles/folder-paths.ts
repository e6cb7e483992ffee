import { folderPath } from '../../directory/documents/folder-tree.ts'
import { keys } from '../../directory/organizations/organization-keys.ts'
import type { DirectoryReader } from '../../directory/store/directory-reader.ts'
import { documentRecordType } from '../../directory/store/records.ts'
import { type AccessResource, documentResource, folderResource } from './access-resource.ts'

/**
 * Reads the paths from resources up to the organization. The path of a folder is read only once for all
 * resources in the folder.
 */
export class FolderPaths {
  readonly #reader: DirectoryReader
  readonly #top: AccessResource
  readonly #fromFolders = new Map<string, Promise<readonly AccessResource[] | null>>()

  constructor(reader: DirectoryReader, top: AccessResource) {
    this.#reader = reader
    this.#top = top
  }

  /** Returns the path from the document up to the organization; null if the document does not exist. */
  async ofDocument(documentId: string): Promise<readonly AccessResource[] | null> {
    const document = await this.#reader.get(keys.document(documentId), documentRecordType)
    if (document === null || document.deleting === true) return null
    const above = await this.from(document.folderId)
    return above && [documentResource(documentId, document), ...above]
  }

  /** Returns the path from the folder up to the organization; null if the folder does not exist. */
  from(folderId: string): Promise<readonly AccessResource[] | null> {
    const path = this.#fromFolders.get(folderId) ?? this.#read(folderId)
    this.#fromFolders.set(folderId, path)
    return path
  }

  async #read(folderId: string): Promise<readonly AccessResource[] | null> {
    const folders = await folderPath(this.#reader, folderId)
    return folders && [...folders.map(folderResource), this.#top]
  }
}
