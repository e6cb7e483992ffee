import { folderPath } from '../../directory/documents/folder-tree.ts'
import { keys } from '../../directory/organizations/organization-keys.ts'
import type { DirectoryReader } from '../../directory/store/directory-reader.ts'
import type { DocumentRecord } from '../../directory/store/records.ts'
import { type AccessResource, documentResource, folderResource } from './access-resource.ts'

/** The ways up to the organization. That of a folder is read once, and shared by all that is in it. */
export class FolderPaths {
  readonly #reader: DirectoryReader
  readonly #top: AccessResource
  readonly #fromFolders = new Map<string, Promise<readonly AccessResource[] | null>>()

  constructor(reader: DirectoryReader, top: AccessResource) {
    this.#reader = reader
    this.#top = top
  }

  /** From the document upwards; null when it does not exist. */
  async ofDocument(documentId: string): Promise<readonly AccessResource[] | null> {
    const document = await this.#reader.get<DocumentRecord>(keys.document(documentId))
    if (document === null || document.deleting === true) return null
    const above = await this.from(document.folderId)
    return above && [documentResource(documentId, document), ...above]
  }

  /** From the folder upwards; null when it does not exist. */
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
