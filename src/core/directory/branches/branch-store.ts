import { createHash } from 'node:crypto'
import { ApiError } from '../../base/errors.ts'
import { shortened } from '../../base/text.ts'
import { type BranchOverlap, withOverlaps } from '../../content/branches/branch-overlaps.ts'
import type { CheckLease } from '../../jobs/task-worker.ts'
import { type DocumentAddress, documentAddress } from '../../model/address.ts'
import { branchEditorId, parseBranchEditorId } from '../../model/branch-address.ts'
import type { Key, KvEntry } from '../../store/engine.ts'
import { readRecord } from '../../store/stored-record.ts'
import { requireResource } from '../documents/resource-lookup.ts'
import type { OrganizationScope } from '../organizations/organization-keys.ts'
import type { OrganizationStore } from '../organizations/organization-store.ts'
import { type ListPage, listEntries, type PageRange } from '../store/list-page.ts'
import { counterRecordType } from '../store/records.ts'
import type { Transaction } from '../store/transaction.ts'
import {
  type BranchPlace,
  type BranchRecord,
  type BranchStatus,
  branchKeys,
  branchLimits,
  branchRecordType,
  writeBranch,
} from './branch-records.ts'

/** Maximum characters of the name of a user in the name of a branch, which also has a hash. */
const unplacedNameCharacters = 30
const hashCharacters = 12

/** Maximum number of branches that one commit removes. */
const removedAtOnce = 200

/** Stores the records of branches in the partition of their organization. */
export class BranchStore {
  readonly #organizations: OrganizationStore

  constructor(organizations: OrganizationStore) {
    this.#organizations = organizations
  }

  /** Returns the record of a branch; null if there is none. */
  find(scope: OrganizationScope, place: BranchPlace): Promise<BranchRecord | null> {
    return this.#organizations.read(scope).get(branchKeys.branch(place), branchRecordType)
  }

  /** Returns the record of a branch. @throws ApiError NOT_FOUND if there is none */
  async require(scope: OrganizationScope, place: BranchPlace): Promise<BranchRecord> {
    const record = await this.find(scope, place)
    if (record === null || record.status === 'deleted') throw noSuchBranch(place)
    return record
  }

  /**
   * Adds a branch.
   * @throws ApiError NOT_FOUND if the document does not exist; ALREADY_EXISTS if the editor has a branch with
   * this name; FAILED_PRECONDITION if the document has too many branches
   */
  async add(scope: OrganizationScope, documentId: string, record: BranchRecord): Promise<void> {
    const place = branchPlaceOf(documentId, record)
    await this.#organizations.carryOut(scope, async (transaction) => {
      await requireResource(transaction, { type: 'document', id: documentId })
      if ((await transaction.get(branchKeys.branch(place))) !== null)
        throw new ApiError(
          'branch/exists',
          `the editor has a branch ${JSON.stringify(record.name)}; choose another name`,
        )
      await count(transaction, documentId, 1, record.status)
      await writeBranch(transaction, place, record)
    })
  }

  /**
   * Adds a branch for an edit that has no place any more, under the name of its user, unless an earlier call has added it.
   * Returns the address of its content.
   * @param edit the update of the edit
   * @throws ApiError NOT_FOUND, FAILED_PRECONDITION as `add`
   */
  async addUnplaced(
    main: DocumentAddress,
    user: { readonly id: string; readonly name: string },
    edit: Uint8Array,
    baseVersion: string,
    createdAt: number,
  ): Promise<DocumentAddress> {
    const named = shortened(user.name || user.id, unplacedNameCharacters)
    const hash = createHash('sha256').update(edit).digest('hex').slice(0, hashCharacters)
    const name = `${named.replaceAll(/[@\p{Cc}]/gu, ' ')} ${hash}`.trim()
    const { documentId, editorId } = main
    const undecided = { status: 'open', decidedBy: '', decidedAt: null } as const
    const record = { editorId, name, createdBy: user.id, createdAt, baseVersion, ...undecided }
    if ((await this.find(main, branchPlaceOf(documentId, record))) === null)
      await this.add(main, documentId, record)
    return documentAddress(main, { ...main, editorId: branchEditorId({ editorId, name }) })
  }

  /** Adds overlaps to the record of an editor that is an open branch. Does nothing if it is not. */
  async addOverlaps(editor: DocumentAddress, overlaps: readonly BranchOverlap[]): Promise<void> {
    const ids = parseBranchEditorId(editor.editorId)
    if (ids === null) return
    const place = branchPlaceOf(editor.documentId, ids)
    await this.#organizations.carryOut(editor, async (transaction) => {
      const branch = await transaction.get(branchKeys.branch(place), branchRecordType)
      if (branch?.status !== 'open') return
      await writeBranch(transaction, place, {
        ...branch,
        overlaps: withOverlaps(branch.overlaps ?? [], overlaps),
      })
    })
  }

  /** Returns a page of the branches of an editor, in the order of their names, with those of the status `deleted`. */
  async list(
    scope: OrganizationScope,
    { documentId, editorId }: Pick<BranchPlace, 'documentId' | 'editorId'>,
    range: PageRange,
  ): Promise<ListPage<BranchRecord>> {
    const reader = this.#organizations.read(scope)
    const { items, next } = await listEntries(reader, branchKeys.ofEditor(documentId, editorId), range)
    return { items: items.map((entry) => readRecord(branchRecordType, entry)), next }
  }

  /**
   * Removes the record of a branch. Resolves with false if there was none. The content of the branch must be
   * destroyed before.
   */
  async remove(scope: OrganizationScope, place: BranchPlace): Promise<boolean> {
    return this.#organizations.carryOut(scope, async (transaction) => {
      if ((await transaction.get(branchKeys.branch(place))) === null) return false
      await writeBranch(transaction, place, null)
      await count(transaction, place.documentId, -1)
      return true
    })
  }

  /** Removes the records of all branches of a document that is being deleted. */
  async forgetDocument(scope: OrganizationScope, documentId: string, goOn: CheckLease): Promise<void> {
    for (;;) {
      const entries = await this.#organizations
        .read(scope)
        .scan({ prefix: branchKeys.ofDocument(documentId), limit: removedAtOnce })
      await this.#organizations.carryOut(scope, async (transaction) => {
        for (const entry of entries) await writeBranch(transaction, placeOfEntry(entry), null)
        transaction.delete(branchKeys.count(documentId))
      })
      if (entries.length < removedAtOnce) return
      await goOn()
    }
  }
}

/** Returns the place of a branch in its organization. */
export const branchPlaceOf = (
  documentId: string,
  { editorId, name }: Pick<BranchRecord, 'editorId' | 'name'>,
): BranchPlace => ({ documentId, editorId, name })

const placeOfEntry = ({ key: [, documentId = '', editorId = '', name = ''] }: KvEntry): BranchPlace => ({
  documentId,
  editorId,
  name,
})

export const noSuchBranch = ({ name }: Pick<BranchPlace, 'name'>): ApiError =>
  new ApiError(
    'branch/not-found',
    `the editor has no branch ${JSON.stringify(name)}; see /v2/crdt/branches/list`,
  )

/** @param status a `deleted` branch, which is restored, may exceed the limit */
async function count(
  transaction: Transaction,
  documentId: string,
  by: 1 | -1,
  status?: BranchStatus,
): Promise<void> {
  const key: Key = branchKeys.count(documentId)
  const present = (await transaction.get(key, counterRecordType))?.count ?? 0
  if (by > 0 && present >= branchLimits.branches && status !== 'deleted')
    throw new ApiError(
      'branch/too-many',
      `a document has at most ${branchLimits.branches} branches: delete some`,
    )
  transaction.put(key, { count: Math.max(0, present + by) })
}
