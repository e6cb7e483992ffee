import type { Clock } from '../clock.ts'
import { ApiError } from '../errors.ts'
import { type DocumentListing, type DocumentView, listDocuments, viewDocuments } from './document-views.ts'
import {
  addDocuments,
  type DocumentChange,
  type DocumentToAdd,
  markDocuments,
  newDocument,
  putDocument,
  updateDocuments,
} from './document-writing.ts'
import { addFolders } from './folder-adding.ts'
import { folderPath } from './folder-tree.ts'
import { noSuchFolder } from './folder-views.ts'
import type { Results } from './items.ts'
import { directoryLimits } from './limits.ts'
import { keys, type OrganizationScope, rootFolderId } from './organization-keys.ts'
import { type OrganizationStore, organizationOf } from './organization-store.ts'
import type { Organizations } from './organizations.ts'
import type { Page } from './page.ts'
import { checkResource } from './places.ts'
import { presenceOf } from './presence.ts'
import type { FolderRecord } from './records.ts'
import { removalJob } from './removal-task.ts'
import type { Removals } from './removals.ts'
import type { Transaction } from './transaction.ts'

/** Documents that are read at a time where all are asked for. */
const documentsAtOnce = 1_000

/** The documents of organizations. Every call of an organization that does not exist throws ApiError NOT_FOUND. */
export class Documents {
  readonly #store: OrganizationStore
  readonly #organizations: Organizations
  readonly #removals: Removals
  readonly #clock: Clock

  constructor(parts: {
    store: OrganizationStore
    organizations: Organizations
    removals: Removals
    clock: Clock
  }) {
    this.#store = parts.store
    this.#organizations = parts.organizations
    this.#removals = parts.removals
    this.#clock = parts.clock
  }

  /**
   * Makes the records of the organization and of the document if there are none; one read, and one a folder, if they exist.
   * To be called with the document's room open: a deletion that comes after it then closes that room.
   * @throws ApiError ABORTED while the document is being deleted, itself or with what it is in
   */
  async ensure(scope: OrganizationScope, documentId: string): Promise<void> {
    const presence = await presenceOf(this.#store, scope, documentId)
    if (presence.state === 'going') throw beingDeleted()
    if (presence.organization !== null && presence.document !== null) return
    if (presence.organization === null) await this.#organizations.ensure(scope)
    await this.#store.change(scope, async (transaction) => {
      await organizationOf(transaction)
      if ((await transaction.get(keys.document(documentId))) === null)
        putDocument(transaction, newDocument({ documentId }, this.#clock.now()))
    })
  }

  /** Is the document being deleted, itself or with what it is in? */
  async isGoing(scope: OrganizationScope, documentId: string): Promise<boolean> {
    return (await presenceOf(this.#store, scope, documentId)).state === 'going'
  }

  /** @throws ApiError ABORTED while the document is being deleted, itself or with what it is in */
  async requireThere(scope: OrganizationScope, documentId: string): Promise<void> {
    if (await this.isGoing(scope, documentId)) throw beingDeleted()
  }

  /**
   * One without a record is enabled.
   * @throws ApiError FAILED_PRECONDITION when the document is disabled, ABORTED while it is being deleted, itself or with
   * what it is in
   */
  async requireEnabled(scope: OrganizationScope, documentId: string): Promise<void> {
    const presence = await presenceOf(this.#store, scope, documentId)
    if (presence.state === 'going') throw beingDeleted()
    if (presence.document?.disabled === true)
      throw new ApiError('FAILED_PRECONDITION', 'the document is disabled')
  }

  /** @throws ApiError NOT_FOUND when the document does not exist */
  async require(scope: OrganizationScope, documentId: string): Promise<void> {
    await checkResource(this.#store.read(scope), { type: 'document', id: documentId })
  }

  /** @param options.createFolder true: makes the folders that are missing, at the top */
  add(
    scope: OrganizationScope,
    documents: readonly DocumentToAdd[],
    { createFolder }: { createFolder: boolean },
  ): Promise<Results> {
    return this.#store.change(scope, async (transaction) => {
      await organizationOf(transaction)
      const now = this.#clock.now()
      if (createFolder) await addMissingFolders(transaction, documents, now)
      return addDocuments(transaction, documents, now)
    })
  }

  /** Those that exist, in the order of the ids. */
  async get(scope: OrganizationScope, documentIds: readonly string[]): Promise<readonly DocumentView[]> {
    const reader = this.#store.read(scope)
    await organizationOf(reader)
    return viewDocuments(reader, documentIds)
  }

  /**
   * All documents, in the order of their ids.
   * @throws ApiError FAILED_PRECONDITION when they are more than one answer should hold
   */
  async all(scope: OrganizationScope): Promise<readonly DocumentView[]> {
    const reader = this.#store.read(scope)
    await organizationOf(reader)
    const found: DocumentView[] = []
    for (let after: string | null | undefined; after !== null; ) {
      const { items, next } = await listDocuments(reader, { limit: documentsAtOnce, after })
      found.push(...items)
      if (found.length > directoryLimits.documentsInAnswer) throw tooManyDocuments()
      after = next
    }
    return found
  }

  /** A page of documents, in the order of their ids. @throws ApiError NOT_FOUND for a folder that does not exist */
  async list(scope: OrganizationScope, listing: DocumentListing): Promise<Page<DocumentView>> {
    const reader = this.#store.read(scope)
    await organizationOf(reader)
    return listDocuments(reader, listing)
  }

  update(scope: OrganizationScope, changes: readonly DocumentChange[]): Promise<Results> {
    return this.#store.change(scope, async (transaction) => {
      await organizationOf(transaction)
      return updateDocuments(transaction, changes, this.#clock.now())
    })
  }

  /** Moves documents into a folder, or with `root` out of any. @throws ApiError NOT_FOUND when there is no such folder */
  move(scope: OrganizationScope, documentIds: readonly string[], folderId: string): Promise<Results> {
    return this.#store.change(scope, async (transaction) => {
      await organizationOf(transaction)
      if ((await folderPath(transaction, folderId)) === null) throw noSuchFolder()
      const changes = documentIds.map((documentId) => ({ documentId, folderId }))
      return updateDocuments(transaction, changes, this.#clock.now())
    })
  }

  /** Deletes documents with all their content, and resolves when nothing of them is left. */
  delete(scope: OrganizationScope, documentIds: readonly string[]): Promise<Results> {
    return this.#removals.await((jobId) =>
      this.#store.change(scope, async (transaction) => {
        await organizationOf(transaction)
        const result = await markDocuments(transaction, documentIds)
        const marked = Object.values(result).filter(({ success }) => success)
        if (marked.length === 0) return { result, task: null }
        const task = { kind: 'documents', scope, documentIds: marked.map(({ id }) => id) } as const
        transaction.enqueue(removalJob(jobId, task))
        return { result, task }
      }),
    )
  }
}

async function addMissingFolders(
  transaction: Transaction,
  documents: readonly DocumentToAdd[],
  now: number,
): Promise<void> {
  const wanted = [...new Set(documents.map(({ folderId = rootFolderId }) => folderId))]
  const folderIds = wanted.filter((id) => id !== rootFolderId)
  const found = await transaction.getAll<FolderRecord>(folderIds.map(keys.folder))
  const missing = folderIds.filter((_, index) => found[index] === null)
  await addFolders(
    transaction,
    missing.map((folderId) => ({ folderId })),
    now,
  )
}

const tooManyDocuments = (): ApiError =>
  new ApiError(
    'FAILED_PRECONDITION',
    `there are more than ${directoryLimits.documentsInAnswer} documents: read them in pages, with version 2`,
  )

const beingDeleted = (): ApiError => new ApiError('ABORTED', 'the document is being deleted; try again')
