import type { Clock } from '../../base/clock.ts'
import { ApiError } from '../../base/errors.ts'
import type { DocumentAddress } from '../../model/address.ts'
import { mainAddress } from '../../model/branch-address.ts'
import type { FenceStore } from '../../store/engine.ts'
import {
  type BranchDeletion,
  branchKeys,
  branchRecordType,
  findBranch,
  requireOpen,
  writeBranch,
} from '../branches/branch-records.ts'
import { branchPlaceOf } from '../branches/branch-store.ts'
import {
  type DocumentListing,
  type DocumentView,
  listDocuments,
  viewDocuments,
} from '../documents/document-views.ts'
import {
  type DocumentInput,
  type DocumentRecordPatch,
  type DocumentWriteOptions,
  markDocumentsDeleted,
  newDocument,
  putDocument,
  writeDocumentPatches,
  writeNewDocuments,
} from '../documents/document-writes.ts'
import { accessTypeIn, folderPath } from '../documents/folder-tree.ts'
import { noSuchFolder } from '../documents/folder-views.ts'
import { writeNewFolders } from '../documents/folder-writes.ts'
import {
  existenceAttemptsMax,
  existenceIn,
  readExistence,
  requireResource,
} from '../documents/resource-lookup.ts'
import { documentFences } from '../organizations/access-change.ts'
import { keys, type OrganizationScope, rootFolderId } from '../organizations/organization-keys.ts'
import type { OrganizationStore } from '../organizations/organization-store.ts'
import { branchDeletions, deletionIn } from '../removal/deletion-record.ts'
import type { RemovalService } from '../removal/removal-service.ts'
import { removalJob } from '../removal/removal-task.ts'
import type { BatchResults } from '../store/batch.ts'
import { type ListPage, nearMissAmong } from '../store/list-page.ts'
import { type AccessType, type DocumentRecord, folderRecordType } from '../store/records.ts'
import type { Transaction } from '../store/transaction.ts'
import { FencedRight, type WriteRight } from '../write-right.ts'
import type { OrganizationService } from './organization-service.ts'

/** Number of documents in one read when all documents are listed. */
const documentsAtOnce = 100

interface AddedDocuments {
  readonly results: BatchResults
  /** Ids of the folders that were created for the documents. */
  readonly folders: readonly string[]
}

/** Ids of the resources that a call has created. A resource that existed is absent. */
export interface EnsuredDocument {
  readonly organization?: string
  readonly document?: string
}

/**
 * The documents of organizations. Every method throws ApiError NOT_FOUND if the organization does not exist.
 */
export class DocumentService {
  readonly #store: OrganizationStore
  readonly #organizations: OrganizationService
  readonly #removals: RemovalService
  readonly #clock: Clock
  readonly #fences: FenceStore
  readonly #defaultAccess: AccessType

  constructor(parts: {
    store: OrganizationStore
    organizations: OrganizationService
    removals: RemovalService
    clock: Clock
    fences: FenceStore
    defaultAccess: AccessType
  }) {
    this.#store = parts.store
    this.#organizations = parts.organizations
    this.#removals = parts.removals
    this.#clock = parts.clock
    this.#fences = parts.fences
    this.#defaultAccess = parts.defaultAccess
  }

  /**
   * Creates the records of the organization and of the document, unless they exist. This takes one read, plus one read
   * for each ancestor folder. Call this method while the room of the document is open, so that a later deletion closes
   * the room. Returns what was created.
   * @param options.admit called before a document gets its record; if it throws, nothing is created
   * @param options.decided called, if at all, when the record is certain, see `KvCommit`
   * @throws ApiError ABORTED if the document, an ancestor folder or the organization is being deleted
   */
  async ensure(
    scope: OrganizationScope,
    documentId: string,
    { admit, decided }: { readonly admit?: () => void; readonly decided?: () => void } = {},
  ): Promise<EnsuredDocument> {
    // An erasure opens rooms of deleted data.
    if (deletionIn(scope.organizationId) !== null) return {}
    let organization: string | undefined
    let isAdmitted = false
    // An attempt ends without a record if the organization is missing, or the folder of the document.
    for (let attempt = 0; attempt <= existenceAttemptsMax; attempt++) {
      const document = await this.#store.change(scope, async (transaction) => {
        const found = await existenceIn(transaction, documentId)
        if (found === null) return 'moved'
        if (found.state === 'going') throw beingDeleted()
        if (found.organization !== null && found.document !== null) return 'known'
        if (found.document === null && !isAdmitted) admit?.()
        isAdmitted = true
        if (found.organization === null) return 'outside'
        transaction.whenDecided(decided)
        putDocument(transaction, this.#newDocument(documentId))
        return 'new'
      })
      if (document === 'outside' && (await this.#organizations.ensure(scope)))
        organization = scope.organizationId
      if (document === 'new' || document === 'known')
        return {
          ...(organization !== undefined && { organization }),
          ...(document === 'new' && { document: documentId }),
        }
    }
    throw beingDeleted()
  }

  /** Returns the existing document of which a new id may be a misspelling; null if there is none. */
  nearMiss(scope: OrganizationScope, documentId: string): Promise<string | null> {
    return nearMissAmong(this.#store.read(scope), keys.documents, documentId)
  }

  #newDocument(documentId: string): DocumentRecord {
    const accessType = accessTypeIn([], this.#defaultAccess)
    return newDocument({ documentId, accessType }, this.#clock.now())
  }

  get #writing(): DocumentWriteOptions {
    return { now: this.#clock.now(), defaultAccess: this.#defaultAccess }
  }

  /** Returns whether the document, an ancestor folder or the organization is being deleted. */
  async isGoing(scope: OrganizationScope, documentId: string): Promise<boolean> {
    return (await readExistence(this.#store, scope, documentId)).state === 'going'
  }

  /**
   * Checks that a document is not being deleted.
   * @throws ApiError ABORTED if the document, an ancestor folder or the organization is being deleted
   */
  async requireThere(scope: OrganizationScope, documentId: string): Promise<void> {
    if (await this.isGoing(scope, documentId)) throw beingDeleted()
  }

  /**
   * Checks that a document is enabled. A document without a record is enabled.
   * @throws ApiError FAILED_PRECONDITION if the document is disabled; ABORTED if the document, an ancestor
   * folder or the organization is being deleted
   */
  async requireEnabled(scope: OrganizationScope, documentId: string): Promise<void> {
    const presence = await readExistence(this.#store, scope, documentId)
    if (presence.state === 'going') throw beingDeleted()
    if (presence.document?.disabled === true)
      throw new ApiError('document/disabled', 'the document is disabled; enable it to change it')
  }

  /**
   * Returns the permission of a backend to change an editor.
   * @throws ApiError like `requireEnabled`; FAILED_PRECONDITION if the editor is a branch that was merged or
   * rejected
   */
  rightToChange(address: DocumentAddress): Promise<WriteRight> {
    const { documentId, editorId } = address
    return FencedRight.read({
      fences: this.#fences,
      clock: this.#clock,
      names: documentFences(address, documentId),
      within: null,
      check: async () => {
        await this.requireEnabled(address, documentId)
        const branch = await findBranch(this.#store.read(address), documentId, editorId)
        if (branch !== null) requireOpen(branch)
        return Number.POSITIVE_INFINITY
      },
    })
  }

  /**
   * Returns the address of the editor that a branch follows; null if the editor is not an open branch.
   * @throws ApiError ABORTED if a job deletes or restores the branch
   */
  async mainOf(address: DocumentAddress): Promise<DocumentAddress | null> {
    if (deletionIn(address.organizationId) !== null) return null
    const branch = await findBranch(this.#store.read(address), address.documentId, address.editorId)
    if (branch?.status === 'deleted') throw beingDeleted()
    return branch?.status === 'open' ? mainAddress(address, branch.editorId) : null
  }

  /** Returns whether the editor is a branch, also one that was merged or rejected. */
  async isBranch(address: DocumentAddress): Promise<boolean> {
    const { documentId, editorId } = address
    return (await findBranch(this.#store.read(address), documentId, editorId)) !== null
  }

  /** Checks that a document exists. @throws ApiError NOT_FOUND if the document does not exist */
  async require(scope: OrganizationScope, documentId: string): Promise<void> {
    await requireResource(this.#store.read(scope), { type: 'document', id: documentId })
  }

  /**
   * Adds documents. Returns the result for each document, and the ids of the folders that were created.
   * @param options.createFolder true: if the folder of a document is missing, it is created at the top level
   */
  add(
    scope: OrganizationScope,
    documents: readonly DocumentInput[],
    { createFolder }: { createFolder: boolean },
  ): Promise<AddedDocuments> {
    return this.#store.changeExisting(scope, (transaction) =>
      this.#writeNew(transaction, documents, createFolder),
    )
  }

  /** Returns the results that `add` would return now if the organization exists. Writes nothing. */
  rehearseAdding(
    scope: OrganizationScope,
    documents: readonly DocumentInput[],
    { createFolder }: { createFolder: boolean },
  ): Promise<AddedDocuments> {
    return this.#store.rehearse(scope, (transaction) => this.#writeNew(transaction, documents, createFolder))
  }

  async #writeNew(
    transaction: Transaction,
    documents: readonly DocumentInput[],
    createFolder: boolean,
  ): Promise<AddedDocuments> {
    const folders = createFolder ? await addMissingFolders(transaction, documents, this.#writing) : []
    return { results: await writeNewDocuments(transaction, documents, this.#writing), folders }
  }

  /** Returns the existing documents, in the order of `documentIds`. */
  async get(scope: OrganizationScope, documentIds: readonly string[]): Promise<readonly DocumentView[]> {
    return viewDocuments(await this.#store.readExisting(scope), documentIds)
  }

  /**
   * Returns a function that reads all documents page by page, in the order of their ids.
   * @throws ApiError NOT_FOUND if the organization does not exist. If the organization is deleted later,
   * reading a page throws the same error
   */
  async all(scope: OrganizationScope): Promise<() => AsyncIterable<readonly DocumentView[]>> {
    await this.#store.readExisting(scope)
    return () => this.#store.pages(scope, documentsAtOnce, listDocuments)
  }

  /**
   * Returns a page of documents, in the order of their ids.
   * @throws ApiError NOT_FOUND if the requested folder does not exist
   */
  async list(scope: OrganizationScope, listing: DocumentListing): Promise<ListPage<DocumentView>> {
    return listDocuments(await this.#store.readExisting(scope), listing)
  }

  update(scope: OrganizationScope, changes: readonly DocumentRecordPatch[]): Promise<BatchResults> {
    return this.#store.changeExisting(scope, (transaction) =>
      writeDocumentPatches(transaction, changes, this.#writing),
    )
  }

  /**
   * Moves documents into a folder. The folder id `root` moves them out of all folders.
   * @throws ApiError NOT_FOUND if the folder does not exist
   */
  move(scope: OrganizationScope, documentIds: readonly string[], folderId: string): Promise<BatchResults> {
    return this.#store.changeExisting(scope, async (transaction) => {
      if ((await folderPath(transaction, folderId)) === null) throw noSuchFolder()
      const changes = documentIds.map((documentId) => ({ documentId, folderId }))
      return writeDocumentPatches(transaction, changes, this.#writing)
    })
  }

  /** Deletes documents with all their content. Resolves when all their data has been removed. */
  delete(scope: OrganizationScope, documentIds: readonly string[]): Promise<BatchResults> {
    return this.#removals.await((jobId) =>
      this.#store.changeExisting(scope, async (transaction) => {
        const kept = this.#removals.kept(jobId)
        const result = await markDocumentsDeleted(transaction, documentIds, kept.kept?.id)
        const marked = Object.values(result).filter(({ success }) => success)
        if (marked.length === 0) return { result, task: null }
        const task = { kind: 'documents', scope, documentIds: marked.map(({ id }) => id), ...kept } as const
        transaction.enqueue(removalJob(jobId, task))
        return { result, task }
      }),
    )
  }

  /**
   * Deletes a branch with its content. Resolves with true when its data has been removed, and with false if there is
   * no such branch.
   * @param keeps schema of the main editor, for a restore; null: the branch cannot be restored
   */
  deleteBranch(
    { documentId, editorId, workspaceId, apiKey, organizationId }: DocumentAddress,
    name: string,
    keeps: Pick<BranchDeletion, 'schema' | 'version'> | null,
  ): Promise<boolean> {
    const scope = { workspaceId, apiKey, organizationId }
    const place = branchPlaceOf(documentId, { editorId, name })
    return this.#removals.await((jobId) =>
      this.#store.carryOut(scope, async (transaction) => {
        const branch = await transaction.get(branchKeys.branch(place), branchRecordType)
        if (branch === null || branch.status === 'deleted') return { result: false, task: null }
        const id = `${branchDeletions(scope, documentId)}.${jobId}`
        const kept = keeps === null ? {} : this.#removals.kept(id)
        const deletion = keeps && kept.kept && { id, status: branch.status, ...keeps }
        const marked = { ...branch, status: 'deleted', ...(deletion && { deletion }) } as const
        await writeBranch(transaction, place, marked)
        const task = { kind: 'branch', scope, place, ...kept } as const
        transaction.enqueue(removalJob(jobId, task))
        return { result: true, task }
      }),
    )
  }
}

/** Creates the missing folders of the documents that do not exist yet. Returns the ids of the new folders. */
async function addMissingFolders(
  transaction: Transaction,
  documents: readonly DocumentInput[],
  writing: DocumentWriteOptions,
): Promise<readonly string[]> {
  const existing = await transaction.getAll(documents.map(({ documentId }) => keys.document(documentId)))
  const absent = documents.filter((_, index) => existing[index] === null)
  const wanted = [...new Set(absent.map(({ folderId = rootFolderId }) => folderId))]
  const folderIds = wanted.filter((id) => id !== rootFolderId)
  const found = await transaction.getAll(folderIds.map(keys.folder), folderRecordType)
  const missing = folderIds.filter((_, index) => found[index] === null)
  const results = await writeNewFolders(
    transaction,
    missing.map((folderId) => ({ folderId })),
    writing,
  )
  return missing.filter((folderId) => results[folderId]?.success === true)
}

const beingDeleted = (): ApiError =>
  new ApiError('document/being-deleted', 'the document is being deleted; try again')
