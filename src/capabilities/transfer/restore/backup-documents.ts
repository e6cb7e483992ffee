import { systemClock } from '../../../core/base/clock.ts'
import { ApiError } from '../../../core/base/errors.ts'
import { branchKeys, findBranch } from '../../../core/directory/branches/branch-records.ts'
import type { DocumentView } from '../../../core/directory/documents/document-views.ts'
import { folderPath } from '../../../core/directory/documents/folder-tree.ts'
import type { FolderView } from '../../../core/directory/documents/folder-views.ts'
import { directoryLimits } from '../../../core/directory/limits.ts'
import {
  keys,
  type OrganizationScope,
  organizationPart,
  type Resource,
  type SubjectType,
} from '../../../core/directory/organizations/organization-keys.ts'
import { organizationOf } from '../../../core/directory/organizations/organization-store.ts'
import { editorSchemasType } from '../../../core/directory/schemas/schema-service.ts'
import { listingPages } from '../../../core/directory/store/list-page.ts'
import type { FolderRecord, OrganizationRecord } from '../../../core/directory/store/records.ts'
import { type GrantRecord, grantRecordType } from '../../../core/directory/store/records.ts'
import { addressKey, documentPrefix } from '../../../core/model/address.ts'
import type { Engine, Key, KvEntry } from '../../../core/store/engine.ts'
import { lastSegment } from '../../../core/store/key-encoding.ts'
import { documentKeyPages, entryPages } from '../../../core/store/pages.ts'
import { readRecord } from '../../../core/store/stored-record.ts'
import { StorageError } from '../../backups/storage/storage-error.ts'
import { commentKeys } from '../../comments/comment-keys.ts'
import {
  type AnnotationRecord,
  annotationRecordType,
  type CommentRecord,
  commentRecordType,
} from '../../comments/comment-records.ts'
import { judgmentKeys, memoryPart } from '../../decisions/judgment-keys.ts'
import type { VersionRecord } from '../../history/version-keys.ts'
import { VersionStore } from '../../history/version-store.ts'
import { readStoredState, recordsOf } from '../documents/stored-document.ts'
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

/** An annotation with all its comments, the oldest first. */
export interface StoredThread {
  readonly annotation: AnnotationRecord
  readonly comments: readonly CommentRecord[]
}

/** A permission of a user or a group on a resource. */
export interface StoredGrant extends GrantRecord {
  readonly subjectType: SubjectType
  readonly subjectId: string
}

/** A branch of an editor. */
interface StoredBranch {
  readonly editorId: string
  readonly name: string
}

/** Reads the selected documents of a backup, with everything that is necessary to create them again. */
export class BackupDocuments {
  readonly #engine: Engine
  readonly #scope: OrganizationScope
  readonly #selection: RestoreSelection
  readonly #records: ReturnType<typeof recordsOf>
  readonly #versions: VersionStore

  /** @param engine a store that was created from the backup */
  constructor(engine: Engine, scope: OrganizationScope, selection: RestoreSelection) {
    this.#engine = engine
    this.#scope = scope
    this.#selection = selection
    this.#records = recordsOf(engine, systemClock, 'public')
    this.#versions = new VersionStore(engine, this.#records.store, systemClock)
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

  /** Yields the threads of a document, the oldest first. */
  async *threads(documentId: string): AsyncGenerator<StoredThread> {
    for await (const { key } of this.#entries(commentKeys.list({ kind: 'document', documentId }))) {
      const annotationKey = commentKeys.annotation(lastSegment(key))
      const [value = null] = await this.#engine.kv.get(organizationPart(this.#scope), [annotationKey])
      if (value === null) continue
      const annotation = readRecord(annotationRecordType, { key: annotationKey, value })
      const comments: CommentRecord[] = []
      for await (const entry of this.#entries(commentKeys.comments(annotation.annotationId)))
        comments.push(readRecord(commentRecordType, entry))
      yield { annotation, comments }
    }
  }

  /** Returns the permissions on a resource. */
  async grants(resource: Resource): Promise<readonly StoredGrant[]> {
    const grants: StoredGrant[] = []
    for await (const entry of this.#entries(keys.grantsOn(resource))) {
      const subjectType = entry.key.at(-2) as SubjectType
      grants.push({
        ...readRecord(grantRecordType, entry),
        subjectType,
        subjectId: lastSegment(entry.key),
      })
    }
    return grants
  }

  async branches(documentId: string): Promise<readonly StoredBranch[]> {
    const found: StoredBranch[] = []
    for await (const { key } of this.#entries(branchKeys.ofDocument(documentId)))
      found.push({ editorId: key.at(-2) ?? '', name: lastSegment(key) })
    return found
  }

  /** Returns the number of schemas that are attached to editors of a document. */
  async countSchemas(documentId: string): Promise<number> {
    let count = 0
    for await (const entry of this.#entries(keys.editorSchemas(documentId)))
      count += readRecord(editorSchemasType, entry).editors.length
    return count
  }

  /** Returns the number of decisions about a document. */
  async countDecisions(documentId: string): Promise<number> {
    const { organizationId } = this.#scope
    const prefix = judgmentKeys.within({ organizationId, documentId })
    let count = 0
    for await (const _ of this.#entries(prefix, memoryPart(this.#scope))) count += 1
    return count
  }

  async *#entries(prefix: Key, part: Key = organizationPart(this.#scope)): AsyncGenerator<KvEntry> {
    const { kv } = this.#engine
    for await (const page of entryPages((range) => kv.scan(part, range), { prefix, limit: pageSize }))
      yield* page
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
    const { type, organizationId, ...below } = this.#selection
    const address = [organizationId, ...Object.values(below)].map(encodeURIComponent).join('/')
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
