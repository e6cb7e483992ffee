import { systemClock } from '../../../core/base/clock.ts'
import { ApiError } from '../../../core/base/errors.ts'
import { findBranch } from '../../../core/directory/branches/branch-records.ts'
import type { DocumentView } from '../../../core/directory/documents/document-views.ts'
import { folderPath } from '../../../core/directory/documents/folder-tree.ts'
import type { FolderView } from '../../../core/directory/documents/folder-views.ts'
import { directoryLimits } from '../../../core/directory/limits.ts'
import type { OrganizationScope } from '../../../core/directory/organizations/organization-keys.ts'
import { organizationOf } from '../../../core/directory/organizations/organization-store.ts'
import { listingPages } from '../../../core/directory/store/list-page.ts'
import type { FolderRecord, OrganizationRecord } from '../../../core/directory/store/records.ts'
import { addressKey, documentPrefix } from '../../../core/model/address.ts'
import type { Engine } from '../../../core/store/engine.ts'
import { lastSegment } from '../../../core/store/key-encoding.ts'
import { documentKeyPages } from '../../../core/store/pages.ts'
import { StorageError } from '../../backups/storage/storage-error.ts'
import type { VersionRecord } from '../../history/version-keys.ts'
import { VersionStore } from '../../history/version-store.ts'
import { readStoredState, recordsOf } from '../documents/stored-document.ts'
import { RelatedRecords } from './related-records.ts'
import type { RestoreSelection } from './restore-selection.ts'

const pageSize = 200

export interface BackupEditor {
  readonly editorId: string
  /** The whole state (V1). */
  readonly bytes: Uint8Array
  /** The saved versions, the oldest first. */
  readonly versions: readonly VersionRecord[]
  /** Returns the content of a version as a whole state (V1). */
  readonly contentOf: (version: VersionRecord) => Promise<Uint8Array>
}

/** Reads the selected documents of a backup, with everything that is necessary to create them again. */
export class BackupDocuments {
  readonly #engine: Engine
  readonly #scope: OrganizationScope
  readonly #selection: RestoreSelection
  readonly #records: ReturnType<typeof recordsOf>
  readonly #versions: VersionStore
  readonly related: RelatedRecords

  /** @param engine a store that was created from the backup */
  constructor(engine: Engine, scope: OrganizationScope, selection: RestoreSelection) {
    this.#engine = engine
    this.#scope = scope
    this.#selection = selection
    this.#records = recordsOf(engine, systemClock, 'public')
    this.#versions = new VersionStore(engine, this.#records.store, systemClock)
    this.related = new RelatedRecords(engine, scope)
  }

  /** @throws StorageError if the backup does not have the organization */
  organization(): Promise<OrganizationRecord> {
    return this.#found(organizationOf(this.#reader()))
  }

  /**
   * Yields the selected documents page by page.
   * @throws StorageError if the backup does not have the selected document or folder
   */
  async *documents(): AsyncGenerator<DocumentView> {
    const scope = this.#scope
    const selection = this.#selection
    const { documents, folders } = this.#records
    if (selection.type === 'document') {
      const found = await this.#found(documents.get(scope, [selection.documentId]))
      if (found.length === 0) throw this.#absent()
      yield* found
    } else if (selection.type === 'organization') {
      for await (const page of (await this.#found(documents.all(scope)))()) yield* page
    } else {
      const depth = directoryLimits.folderDepth
      const top = await this.#found(folders.below(scope, selection.folderId, depth))
      for (const { record } of foldersOf(top)) yield* this.#documentsIn(record.folderId)
    }
  }

  async *#documentsIn(folderId: string): AsyncGenerator<DocumentView> {
    const { documents } = this.#records
    for await (const page of listingPages(
      (range) => documents.list(this.#scope, { folderId, ...range }),
      pageSize,
    ))
      yield* page
  }

  /** Returns a folder and its ancestors, nearest first; an empty list for `root`. */
  async folderPath(folderId: string): Promise<readonly FolderRecord[]> {
    return (await folderPath(this.#reader(), folderId)) ?? []
  }

  /** Yields each editor of a document, except for branches. @throws CorruptRecordError */
  async *editors(documentId: string): AsyncGenerator<BackupEditor> {
    const { log } = this.#engine
    const prefix = documentPrefix(this.#scope, documentId)
    for await (const keys of documentKeyPages(log, prefix, pageSize))
      for (const editorId of keys.map(lastSegment)) {
        if ((await findBranch(this.#reader(), documentId, editorId)) !== null) continue
        const address = { ...this.#scope, documentId, editorId }
        const stored = await readStoredState(log, addressKey(address))
        if (stored.state !== 'live') continue
        const { bytes, epoch } = stored
        // Versions of an earlier epoch belong to an editor that was deleted.
        const versions = (await this.#versions.all(address)).filter((version) => version.epoch === epoch)
        const contentOf = (version: VersionRecord) => this.#versions.contentOf(address, version)
        yield { editorId, bytes, versions, contentOf }
      }
  }

  #reader() {
    return this.#records.store.read(this.#scope)
  }

  async #found<T>(read: Promise<T>): Promise<T> {
    try {
      return await read
    } catch (error) {
      if (error instanceof ApiError && error.status === 'NOT_FOUND') throw this.#absent(error)
      throw error
    }
  }

  #absent(cause?: unknown): StorageError {
    const { organizationId, type } = this.#selection
    const ids = {
      organization: [],
      folder: 'folderId' in this.#selection ? [this.#selection.folderId] : [],
      document: 'documentId' in this.#selection ? [this.#selection.documentId] : [],
    }[type]
    const address = [organizationId, ...ids].map(encodeURIComponent).join('/')
    const list =
      type === 'organization'
        ? ''
        : `; --organization ${encodeURIComponent(organizationId)} --dry-run lists the documents of this one`
    return new StorageError(`the backup has no ${type} ${address}`, {
      cause,
      hint: `use another backup (--at, in a repository)${list}`,
    })
  }
}

function* foldersOf(top: FolderView): Generator<FolderView> {
  yield top
  for (const each of top.subFolders ?? []) yield* foldersOf(each)
}
