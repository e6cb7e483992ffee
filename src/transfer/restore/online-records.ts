import * as v from 'valibot'
import type { DocumentView } from '../../directory/documents/document-views.ts'
import { effectiveAccessType } from '../../directory/documents/folder-tree.ts'
import { rootFolderId } from '../../directory/organizations/organization-keys.ts'
import type { FolderRecord, OrganizationRecord } from '../../directory/store/records.ts'
import { StorageError } from '../../storage/storage-error.ts'
import { callOnline, nullIfNotFound, type OnlineServer } from '../documents/rest-client.ts'

const resultsSchema = v.record(v.string(), v.looseObject({ success: v.boolean(), message: v.string() }))

/** Creates the records of documents in one organization of a running server, and the folders that they need. */
export class OnlineRecords {
  readonly #server: OnlineServer
  readonly #organization: OrganizationRecord
  /** Ids of the folders that exist in the running server. */
  readonly #folders = new Set([rootFolderId])

  /** @param organization record that the organization gets if it does not exist */
  constructor(server: OnlineServer, organization: OrganizationRecord) {
    this.#server = server
    this.#organization = organization
  }

  /** Returns whether the server has a document. @throws StorageError */
  async hasDocument(documentId: string): Promise<boolean> {
    const { organizationId } = this.#organization
    const query = { organizationId, documentIds: [documentId] }
    const call = callOnline(this.#server, '/v2/organizations/documents/get', query, v.array(v.unknown()))
    return ((await nullIfNotFound(call))?.data.length ?? 0) > 0
  }

  /**
   * Creates a document that does not exist, with its name, folder, access type and metadata.
   * @param path the folder of the document and its ancestors, nearest first
   * @throws StorageError
   */
  async addDocument({ record, accessType }: DocumentView, path: readonly FolderRecord[]): Promise<void> {
    const { organizationId, organizationName, metadata } = this.#organization
    const organizations = [{ organizationId, ...named('organizationName', organizationName), metadata }]
    // An existing organization is not changed.
    await this.#batch('/v2/organizations/add', { organizations })
    for (const [index, folder] of [...path.entries()].toReversed())
      await this.#addFolder(folder, path.slice(index))
    const { documentId, documentName, folderId } = record
    // Outside of folders, the document gets the access type that it had, also if the default of the server differs.
    const access = record.accessType ?? (folderId === rootFolderId ? accessType : null)
    const document = {
      documentId,
      ...named('documentName', documentName),
      folderId,
      ...(access !== null && { accessType: access }),
      metadata: record.metadata,
    }
    await this.#one('/v2/organizations/documents/add', documentId, { organizationId, documents: [document] })
  }

  /** Disables a document. @throws StorageError */
  async disable(documentId: string): Promise<void> {
    const { organizationId } = this.#organization
    const documents = [{ documentId, disabled: true }]
    await this.#one('/v2/organizations/documents/update', documentId, { organizationId, documents })
  }

  /** Creates a folder with its access settings, unless it exists. @param path the folder and its ancestors */
  async #addFolder(folder: FolderRecord, path: readonly FolderRecord[]): Promise<void> {
    const { folderId, folderName, parentFolderId, accessType, inheritAccessFromParent } = folder
    if (this.#folders.has(folderId)) return
    const { organizationId } = this.#organization
    const folders = [{ folderId, ...named('folderName', folderName), parentFolderId }]
    const results = await this.#batch('/v1/organizations/folders/add', { organizationId, folders })
    if (results[folderId]?.success === true && (accessType !== null || !inheritAccessFromParent))
      await this.#one('/v2/organizations/folders/access/update', folderId, {
        organizationId,
        folderIds: [folderId],
        accessType: accessType ?? effectiveAccessType(path),
        inheritAccessFromParent,
      })
    this.#folders.add(folderId)
  }

  async #batch(path: string, query: object) {
    return (await callOnline(this.#server, path, query, resultsSchema)).data
  }

  /** Calls an operation for one item. @throws StorageError also if the item was rejected */
  async #one(path: string, id: string, query: object): Promise<void> {
    const result = (await this.#batch(path, query))[id]
    if (result?.success !== true) throw new StorageError(result?.message ?? `no result of ${path}`)
  }
}

const named = (member: string, name: string): object => (name === '' ? {} : { [member]: name })
