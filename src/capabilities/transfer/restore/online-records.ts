import * as s from '../../../core/base/schema.ts'
import type { DocumentView } from '../../../core/directory/documents/document-views.ts'
import { effectiveAccessType } from '../../../core/directory/documents/folder-tree.ts'
import { rootFolderId } from '../../../core/directory/organizations/organization-keys.ts'
import type { FolderRecord, OrganizationRecord } from '../../../core/directory/store/records.ts'
import { StorageError } from '../../backups/storage/storage-error.ts'
import { callOnline, nullIfRefused, type OnlineServer } from '../documents/rest-client.ts'
import type { BackupDocuments } from './backup-documents.ts'
import { OnlinePermissions, type PermissionCounts } from './online-permissions.ts'

/** Schema of the results of a batch by the ids of its items. */
export const batchResultsSchema = s.map(s.object({ success: s.boolean, message: s.string }))

/**
 * Metadata of an organization or document until it is complete. Only its removal proves that an earlier restore was
 * not interrupted and that no response was lost.
 */
const incompleteMetadata = { weftRestore: 'incomplete' }
/** Name of a folder until it has its access settings and permissions, because a folder has no metadata. */
const incompleteName = 'Incomplete restore (Weft)'

const metadataSchema = s.map(s.unknown)
const organizationsSchema = s.array(s.object({ metadata: metadataSchema }))
const documentsSchema = s.array(
  s.object({
    disabled: s.boolean,
    accessType: s.string,
    metadata: metadataSchema,
  }),
)
const foldersSchema = s.array(
  s.object({
    folderName: s.string,
    accessType: s.string,
    inheritAccessFromParent: s.boolean,
  }),
)

/** A document of the running server. */
export interface OnlineDocument {
  readonly disabled: boolean
  /** The effective access type. */
  readonly accessType: string
  /** False: a restore has created it and was interrupted, or is not finished. */
  readonly isComplete: boolean
}

/** Numbers of the permissions, and of existing folders whose access settings differ from those of the backup. */
interface ParentCounts {
  readonly permissions: readonly PermissionCounts[]
  readonly differing: number
}

/** Creates the records of documents in one organization of a running server, and the folders that they need. */
export class OnlineRecords {
  readonly #server: OnlineServer
  readonly #organization: OrganizationRecord
  readonly #permissions: OnlinePermissions
  /** Ids of the folders that exist in the running server and are complete. */
  readonly #folders = new Set([rootFolderId])
  /** Whether this restore has created or completed the organization; null: not known. */
  #isNewOrganization: boolean | null = null

  /**
   * @param organization record that the organization gets if it does not exist
   */
  constructor(server: OnlineServer, organization: OrganizationRecord, backup: BackupDocuments) {
    this.#server = server
    this.#organization = organization
    this.#permissions = new OnlinePermissions(server, organization.organizationId, backup)
  }

  /** Returns a document of the server; null if it does not exist. @throws StorageError */
  async document(documentId: string): Promise<OnlineDocument | null> {
    const { organizationId } = this.#organization
    const query = { organizationId, documentIds: [documentId] }
    const path = '/v2/organizations/documents/get'
    const call = callOnline(this.#server, path, query, documentsSchema)
    const [found] = (await nullIfRefused(call, 'NOT_FOUND'))?.data ?? []
    if (found === undefined) return null
    const { disabled, accessType, metadata } = found
    return { disabled, accessType, isComplete: !isIncomplete(metadata) }
  }

  /** Counts the permissions that a document would get. @throws StorageError */
  async countPermissions(documentId: string): Promise<PermissionCounts> {
    const present = await this.#presentOrganization()
    const isNew = present === null || isIncomplete(present.metadata)
    return this.#permissions.restore({ type: 'document', id: documentId }, isNew, true)
  }

  /**
   * Creates the organization and the folders of a document with their access settings and permissions, unless they
   * exist. Completes those that an interrupted restore has created. Others are not changed.
   * @param path the folder of the document and its ancestors, nearest first
   * @throws StorageError also if one of them could not be completed; then no document may be created below it
   */
  async addParents(path: readonly FolderRecord[]): Promise<ParentCounts> {
    const permissions: PermissionCounts[] = []
    await this.#addOrganization(permissions)
    let differing = 0
    for (const [index, { folderId }] of [...path.entries()].toReversed()) {
      if (this.#folders.has(folderId)) continue
      if (!(await this.#addFolder(path.slice(index), permissions))) differing += 1
      this.#folders.add(folderId)
    }
    return { permissions, differing }
  }

  /**
   * Creates a document that does not exist, without its permissions. Unless it inherits its access type, it is
   * restricted, so that users do not read it before it is complete.
   * @throws StorageError
   */
  async addDocument(view: DocumentView): Promise<void> {
    const { documentId, documentName, folderId } = view.record
    const document = {
      documentId,
      ...named('documentName', documentName),
      folderId,
      ...(isHidden(view) && { accessType: 'restricted' }),
      metadata: incompleteMetadata,
    }
    const { organizationId } = this.#organization
    await this.#one('/v2/organizations/documents/add', documentId, { organizationId, documents: [document] })
  }

  /**
   * Completes a document that has its content: disables it if it was disabled, then sets its access type, its
   * permissions and its metadata.
   * @throws StorageError
   */
  async completeDocument(view: DocumentView): Promise<PermissionCounts> {
    const { record, accessType } = view
    const { documentId, disabled, metadata, others } = record
    // Outside of folders, the document gets the access type that it had, also if the default of the server differs.
    if (isHidden(view))
      await this.#updateDocument(documentId, { disabled, accessType: record.accessType ?? accessType })
    const counts = await this.#permissions.restore({ type: 'document', id: documentId }, this.#isNew)
    await this.#updateDocument(documentId, { ...others, metadata })
    return counts
  }

  /** Disables a document. @throws StorageError */
  async disable(documentId: string): Promise<void> {
    await this.#updateDocument(documentId, { disabled: true })
  }

  get #isNew(): boolean {
    return this.#isNewOrganization === true
  }

  async #addOrganization(permissions: PermissionCounts[]): Promise<void> {
    if (this.#isNewOrganization !== null) return
    const { organizationId, organizationName, metadata } = this.#organization
    const given = { organizationId, ...named('organizationName', organizationName) }
    const organizations = [{ ...given, metadata: incompleteMetadata }]
    const result = (await this.#batch('/v2/organizations/add', { organizations }))[organizationId]
    if (result?.success !== true) {
      const present = await this.#presentOrganization()
      if (present === null) throw new StorageError(result?.message ?? 'the organization was not created')
      if (!isIncomplete(present.metadata)) {
        this.#isNewOrganization = false
        return
      }
    }
    permissions.push(await this.#permissions.restore({ type: 'organization', id: organizationId }, true))
    const updates = { organizations: [{ organizationId, metadata }] }
    await this.#one('/v2/organizations/update', organizationId, updates)
    this.#isNewOrganization = true
  }

  async #presentOrganization() {
    const query = { organizationIds: [this.#organization.organizationId] }
    const path = '/v2/organizations/get'
    return (await callOnline(this.#server, path, query, organizationsSchema)).data[0] ?? null
  }

  /**
   * Creates or completes a folder, unless it exists. Returns false if it exists with other access settings.
   * @param path the folder and its ancestors
   */
  async #addFolder(path: readonly FolderRecord[], permissions: PermissionCounts[]): Promise<boolean> {
    const [folder] = path
    if (folder === undefined) return true
    const { folderId, folderName, parentFolderId, accessType, inheritAccessFromParent } = folder
    const { organizationId } = this.#organization
    const resource = { type: 'folder', id: folderId } as const
    const hasAccess = accessType !== null || !inheritAccessFromParent
    const isOneCall = !hasAccess && !(await this.#permissions.hasAny(resource))
    const name = isOneCall ? folderName : incompleteName
    const folders = [{ folderId, ...named('folderName', name), parentFolderId }]
    const added = await this.#batch('/v1/organizations/folders/add', {
      organizationId,
      folders,
      createMissing: false,
    })
    if (added[folderId]?.success !== true) {
      const present = await this.#presentFolder(folderId)
      if (present.folderName !== incompleteName)
        return (
          present.accessType === effectiveAccessType(path) &&
          present.inheritAccessFromParent === inheritAccessFromParent
        )
    } else if (isOneCall) return true
    if (hasAccess)
      await this.#one('/v2/organizations/folders/access/update', folderId, {
        organizationId,
        folderIds: [folderId],
        accessType: accessType ?? effectiveAccessType(path),
        inheritAccessFromParent,
      })
    permissions.push(await this.#permissions.restore(resource, this.#isNew))
    const updates = { organizationId, folders: [{ folderId, folderName }] }
    await this.#one('/v1/organizations/folders/update', folderId, updates)
    return true
  }

  async #presentFolder(folderId: string) {
    const query = { organizationId: this.#organization.organizationId, folderId, maxDepth: 0 }
    const path = '/v2/organizations/folders/get'
    const [found] = (await callOnline(this.#server, path, query, foldersSchema)).data
    if (found === undefined) throw new StorageError(`no result of ${path}`)
    return found
  }

  async #updateDocument(documentId: string, changes: object): Promise<void> {
    const { organizationId } = this.#organization
    const documents = [{ documentId, ...changes }]
    await this.#one('/v2/organizations/documents/update', documentId, { organizationId, documents })
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

const isIncomplete = (metadata: Readonly<Record<string, unknown>>): boolean =>
  metadata.weftRestore === incompleteMetadata.weftRestore

/**
 * Returns whether a document is restricted until it has its content. An enabled document that inherits its access type
 * has that of its folder from the start, because the API cannot remove the own access type of a document.
 */
const isHidden = ({ record }: DocumentView): boolean =>
  record.disabled || record.accessType !== null || record.folderId === rootFolderId
