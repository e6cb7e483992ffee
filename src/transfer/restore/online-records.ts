import * as v from 'valibot'
import { systemClock } from '../../clock.ts'
import type { DocumentView } from '../../directory/documents/document-views.ts'
import { effectiveAccessType } from '../../directory/documents/folder-tree.ts'
import { type Resource, rootFolderId } from '../../directory/organizations/organization-keys.ts'
import { activeGrant } from '../../directory/permissions/grants.ts'
import type { FolderRecord, OrganizationRecord } from '../../directory/store/records.ts'
import { StorageError } from '../../storage/storage-error.ts'
import { callOnline, nullIfNotFound, type OnlineServer } from '../documents/rest-client.ts'
import type { RelatedRecords, StoredGrant } from './related-records.ts'

/** Schema of the results of a batch by the ids of its items. */
export const batchResultsSchema = v.record(
  v.string(),
  v.looseObject({ success: v.boolean(), message: v.string() }),
)

/** Numbers of permissions. `leftOut`: their groups do not exist in the server. */
export interface PermissionCounts {
  readonly restored: number
  readonly leftOut: number
}

/** Creates the records of documents in one organization of a running server, and the folders that they need. */
export class OnlineRecords {
  readonly #server: OnlineServer
  readonly #organization: OrganizationRecord
  readonly #related: RelatedRecords
  /** Ids of the folders that exist in the running server. */
  readonly #folders = new Set([rootFolderId])

  /**
   * @param organization record that the organization gets if it does not exist
   * @param related records of the backup
   */
  constructor(server: OnlineServer, organization: OrganizationRecord, related: RelatedRecords) {
    this.#server = server
    this.#organization = organization
    this.#related = related
  }

  /** Returns whether the server has a document. @throws StorageError */
  async hasDocument(documentId: string): Promise<boolean> {
    const { organizationId } = this.#organization
    const query = { organizationId, documentIds: [documentId] }
    const call = callOnline(this.#server, '/v2/organizations/documents/get', query, v.array(v.unknown()))
    return ((await nullIfNotFound(call))?.data.length ?? 0) > 0
  }

  /**
   * Creates a document that does not exist, with its name, folder, access type, metadata and permissions, and its
   * folders with their permissions. A dry run counts the permissions on the document only.
   * @param path the folder of the document and its ancestors, nearest first
   * @throws StorageError
   */
  async addDocument(
    { record, accessType }: DocumentView,
    path: readonly FolderRecord[],
    isDryRun: boolean,
  ): Promise<PermissionCounts> {
    if (isDryRun)
      return {
        restored: (await this.#grantsOn({ type: 'document', id: record.documentId })).length,
        leftOut: 0,
      }
    const { organizationId, organizationName, metadata } = this.#organization
    const organizations = [{ organizationId, ...named('organizationName', organizationName), metadata }]
    // An existing organization or folder is not changed.
    const counts = { restored: 0, leftOut: 0 }
    const created = await this.#batch('/v2/organizations/add', { organizations })
    if (created[organizationId]?.success === true)
      await this.#grantAll({ type: 'organization', id: organizationId }, counts)
    for (const [index, folder] of [...path.entries()].toReversed())
      if (await this.#addFolder(folder, path.slice(index)))
        await this.#grantAll({ type: 'folder', id: folder.folderId }, counts)
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
    await this.#grantAll({ type: 'document', id: documentId }, counts)
    return counts
  }

  /** Disables a document. @throws StorageError */
  async disable(documentId: string): Promise<void> {
    const { organizationId } = this.#organization
    const documents = [{ documentId, disabled: true }]
    await this.#one('/v2/organizations/documents/update', documentId, { organizationId, documents })
  }

  /**
   * Creates a folder with its access settings, unless it exists. Returns whether it was created.
   * @param path the folder and its ancestors
   */
  async #addFolder(folder: FolderRecord, path: readonly FolderRecord[]): Promise<boolean> {
    const { folderId, folderName, parentFolderId, accessType, inheritAccessFromParent } = folder
    if (this.#folders.has(folderId)) return false
    const { organizationId } = this.#organization
    const folders = [{ folderId, ...named('folderName', folderName), parentFolderId }]
    const results = await this.#batch('/v1/organizations/folders/add', { organizationId, folders })
    const isCreated = results[folderId]?.success === true
    if (isCreated && (accessType !== null || !inheritAccessFromParent))
      await this.#one('/v2/organizations/folders/access/update', folderId, {
        organizationId,
        folderIds: [folderId],
        accessType: accessType ?? effectiveAccessType(path),
        inheritAccessFromParent,
      })
    this.#folders.add(folderId)
    return isCreated
  }

  /** Returns the permissions that a resource has in the backup and that have not expired. */
  async #grantsOn(resource: Resource): Promise<readonly StoredGrant[]> {
    const now = systemClock.now()
    return (await this.#related.grants(resource)).filter((grant) => activeGrant(grant, now) !== null)
  }

  /** Grants the permissions that a resource has in the backup, and counts them. */
  async #grantAll(resource: Resource, counts: { restored: number; leftOut: number }): Promise<void> {
    const { organizationId } = this.#organization
    for (const { subjectType, subjectId, accessRole, expiresAt } of await this.#grantsOn(resource)) {
      const granted = { ...resource, organizationId, accessRole, ...(expiresAt !== null && { expiresAt }) }
      const subject =
        subjectType === 'user' ? { user: { userId: subjectId } } : { organizationUserGroupId: subjectId }
      const query = { ...subject, permissions: { resources: [granted] } }
      const call = callOnline(this.#server, '/v2/auth/permissions/add', query, v.unknown())
      // The group may have been deleted.
      counts[(await nullIfNotFound(call)) === null ? 'leftOut' : 'restored'] += 1
    }
  }

  async #batch(path: string, query: object) {
    return (await callOnline(this.#server, path, query, batchResultsSchema)).data
  }

  /** Calls an operation for one item. @throws StorageError also if the item was rejected */
  async #one(path: string, id: string, query: object): Promise<void> {
    const result = (await this.#batch(path, query))[id]
    if (result?.success !== true) throw new StorageError(result?.message ?? `no result of ${path}`)
  }
}

const named = (member: string, name: string): object => (name === '' ? {} : { [member]: name })
