import type { Clock } from '../clock.ts'
import type { RootSchema } from '../content/schemas/content-schema.ts'
import {
  type BranchPlace,
  type BranchRecord,
  type BranchStatus,
  branchKeys,
  branchRecordType,
  requireOpen,
} from '../directory/branches/branch-records.ts'
import { type BranchStore, branchPlaceOf, noSuchBranch } from '../directory/branches/branch-store.ts'
import { writeBranch } from '../directory/branches/branch-writing.ts'
import { findBranch } from '../directory/branches/find-branch.ts'
import type { DocumentService } from '../directory/documents/document-service.ts'
import type { OrganizationStore } from '../directory/organizations/organization-store.ts'
import type { ListPage, PageRange } from '../directory/store/list-page.ts'
import type { DocumentLog } from '../engine/engine.ts'
import { ApiError, invalid } from '../errors.ts'
import type { EventRecorder } from '../events/event-recorder.ts'
import { addressKey, type DocumentAddress, documentAddress, idProblem } from '../model/address.ts'
import { branchEditorId, branchSeparator, parseBranchEditorId } from '../model/branch-address.ts'
import { type EditResult, noContent } from '../rooms/edits/edit-context.ts'
import type { RoomRegistry } from '../rooms/room/room-registry.ts'
import { shortened } from '../text.ts'
import type { VersionService } from '../versions/version-service.ts'
import { branchEvent } from './branch-events.ts'

interface BranchDependencies {
  readonly store: BranchStore
  readonly organizations: OrganizationStore
  readonly documents: DocumentService
  readonly rooms: RoomRegistry
  readonly versions: VersionService
  readonly events: EventRecorder
  readonly log: Pick<DocumentLog, 'heads'>
  readonly clock: Clock
}

export interface MergeRequest {
  /** Id of the user who merges the branch. */
  readonly userId: string
  readonly dryRun?: boolean | undefined
  /** The error to throw for a merge that adds content, because the workspace is full; null if it is not. */
  readonly full: ApiError | null
  /** Returns the schema that the main editor must match after the merge; null without one. */
  readonly schema: () => Promise<RootSchema | null>
}

export interface MergedBranch {
  readonly branch: BranchRecord
  /** Version of the main editor after the merge. */
  readonly version: string
  /** Size in bytes of the update that clients of the main editor receive; 0 if nothing changed. */
  readonly bytes: number
}

/** Maximum characters of a name in an error. */
const shownCharacters = 100

/**
 * The branches of editors. A branch is an editor of its own: it starts with the state of its main editor, and
 * follows it (`rooms/branches`). A decision writes the branch to the main editor, or ends it.
 */
export class BranchService {
  readonly #dependencies: BranchDependencies

  constructor(dependencies: BranchDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Creates a branch with the content of its main editor. Resolves when the content of the branch is durable.
   * @throws ApiError NOT_FOUND if the main editor has no content; INVALID_ARGUMENT for an invalid name;
   * ALREADY_EXISTS; FAILED_PRECONDITION if the document has too many branches, or if the editor is a branch
   */
  async create(
    main: DocumentAddress,
    { name, userId }: { readonly name: string; readonly userId: string },
  ): Promise<BranchRecord> {
    const { store, rooms, documents, clock, log } = this.#dependencies
    checkName(main, name)
    await documents.requireEnabled(main, main.documentId)
    await this.#requireMain(main)
    const baseVersion = await rooms.use(main, (room) => room.editing.version())
    if (baseVersion === null) throw noContent()
    const address = addressOf(main, name)
    const place = branchPlaceOf(main.documentId, { editorId: main.editorId, name })
    const [head = null] = await log.heads([addressKey(address)])
    if (head !== null && (await store.find(main, place)) === null)
      throw new ApiError(
        'branch/exists',
        `the document has content for the editor id ${JSON.stringify(shortened(address.editorId, shownCharacters))}, which is not a branch; choose another name`,
      )
    const { editorId } = main
    const undecided = { status: 'open', decidedBy: '', decidedAt: null } as const
    const record = { editorId, name, createdBy: userId, createdAt: clock.now(), baseVersion, ...undecided }
    await store.add(main, main.documentId, record)
    // Opening the branch copies the content.
    await rooms.use(address, (room) => room.editing.version())
    return record
  }

  /** @throws ApiError NOT_FOUND */
  get(main: DocumentAddress, name: string): Promise<BranchRecord> {
    return this.#dependencies.store.require(main, placeIn(main, name))
  }

  /** Returns a page of the branches of an editor, in the order of their names. */
  list(main: DocumentAddress, range: PageRange): Promise<ListPage<BranchRecord>> {
    return this.#dependencies.store.list(main, main, range)
  }

  /**
   * Applies all changes of a branch to its main editor, in one update. The changes keep their identity. The
   * branch is then merged, and read-only. Merging it again applies only what is still missing.
   * @throws ApiError NOT_FOUND; FAILED_PRECONDITION if the branch is rejected; the errors of `apply`
   */
  async merge(main: DocumentAddress, name: string, request: MergeRequest): Promise<MergedBranch> {
    const branch = await this.get(main, name)
    if (branch.status === 'rejected') requireOpen(branch)
    const merged = await this.#applyAll(main, branch, request)
    if (request.dryRun === true) return { ...merged, branch }
    if (branch.status === 'merged') return { ...merged, branch }
    const decided = await this.#decide(main, branch, 'merged', request.userId)
    // The branch is read-only now. A change that arrived before, and after it was read, is still missing.
    const rest = await this.#applyAll(main, decided, request)
    return { branch: decided, version: rest.version, bytes: merged.bytes + rest.bytes }
  }

  /**
   * Rejects a branch, which is then read-only. Rejecting it again changes nothing.
   * @throws ApiError NOT_FOUND; FAILED_PRECONDITION if the branch is merged
   */
  async reject(main: DocumentAddress, name: string, userId: string): Promise<BranchRecord> {
    const branch = await this.get(main, name)
    if (branch.status === 'rejected') return branch
    return this.#decide(main, branch, 'rejected', userId)
  }

  /**
   * Deletes a branch with its content. Connections to it are closed.
   * @throws ApiError NOT_FOUND; ABORTED if the document is being deleted
   */
  async delete(main: DocumentAddress, name: string): Promise<void> {
    await this.#dependencies.documents.requireThere(main, main.documentId)
    if (!(await this.#remove(main, name))) throw noSuchBranch({ name })
  }

  /** Deletes all branches of an editor, before the editor is deleted. */
  async deleteAll(main: DocumentAddress): Promise<void> {
    for (;;) {
      const { items } = await this.list(main, { after: undefined, limit: deletedAtOnce })
      for (const { name } of items) await this.#remove(main, name)
      if (items.length === 0) return
    }
  }

  /** Removes the record of a branch whose editor is deleted. Does nothing if the editor is not a branch. */
  async forget(editor: DocumentAddress): Promise<void> {
    const ids = parseBranchEditorId(editor.editorId)
    if (ids !== null) await this.#dependencies.store.remove(editor, branchPlaceOf(editor.documentId, ids))
  }

  /** Returns the ids without those of branches. */
  async withoutBranches(
    document: Omit<DocumentAddress, 'editorId'>,
    editorIds: readonly string[],
  ): Promise<readonly string[]> {
    const reader = this.#dependencies.organizations.read(document)
    const found = await Promise.all(editorIds.map((id) => findBranch(reader, document.documentId, id)))
    return editorIds.filter((_, index) => found[index] === null)
  }

  /**
   * Destroys the content of a branch, then its record. Until the record is removed, a client may create the
   * content again, so it is destroyed a second time.
   */
  async #remove(main: DocumentAddress, name: string): Promise<boolean> {
    const { rooms, versions, store } = this.#dependencies
    const address = addressOf(main, name)
    const place = placeIn(main, name)
    if ((await store.find(main, place)) === null) return false
    await versions.removeEditor(address)
    await rooms.destroy(address)
    const isRemoved = await store.remove(main, place)
    await rooms.destroy(address)
    await versions.removeEditor(address)
    return isRemoved
  }

  async #applyAll(
    main: DocumentAddress,
    branch: BranchRecord,
    { userId, dryRun, full, schema }: MergeRequest,
  ): Promise<Omit<MergedBranch, 'branch'>> {
    const { rooms, documents } = this.#dependencies
    const [right, rootSchema] = await Promise.all([documents.rightToChange(main), schema()])
    const vector = await rooms.use(main, async (room) => room.state.vector())
    const bytes = await rooms.use(addressOf(main, branch.name), (room) => room.editing.missing(vector))
    const by = branch.createdBy === '' ? userId : branch.createdBy
    const cause = { source: 'branch', meta: { branch: branch.name } } as const
    const options = { expects: 'content', right, rootSchema, full, dryRun, cause } as const
    const applied: EditResult<Uint8Array> = await rooms.use(main, (room) =>
      room.editing.apply(by, bytes, options),
    )
    return { version: applied.version, bytes: applied.bytes }
  }

  /** Stores a decision on a whole branch, with its event. */
  async #decide(
    main: DocumentAddress,
    branch: BranchRecord,
    status: Exclude<BranchStatus, 'open'>,
    userId: string,
  ): Promise<BranchRecord> {
    const { organizations, events, clock } = this.#dependencies
    const { documentId } = main
    const place = placeIn(main, branch.name)
    return organizations.carryOut(main, async (transaction) => {
      const present = await transaction.get(branchKeys.branch(place), branchRecordType)
      if (present === null) throw noSuchBranch(branch)
      if (present.status === status) return present
      requireOpen(present)
      const decided: BranchRecord = { ...present, status, decidedBy: userId, decidedAt: clock.now() }
      await writeBranch(transaction, place, decided)
      const is = status === 'merged' ? 'accept' : 'reject'
      events.recordNew(transaction, main, [
        branchEvent({ is, documentId, branch: decided, userId, hunkIds: null }),
      ])
      return decided
    })
  }

  async #requireMain(main: DocumentAddress): Promise<void> {
    const { organizations } = this.#dependencies
    if ((await findBranch(organizations.read(main), main.documentId, main.editorId)) === null) return
    throw new ApiError(
      'branch/of-branch',
      `the editor ${JSON.stringify(shortened(main.editorId, shownCharacters))} is a branch, and a branch has no branches`,
    )
  }
}

/** Number of branches that are deleted after one read. */
const deletedAtOnce = 100

const placeIn = ({ documentId, editorId }: DocumentAddress, name: string): BranchPlace => ({
  documentId,
  editorId,
  name,
})

const addressOf = (main: DocumentAddress, name: string): DocumentAddress =>
  documentAddress(main, {
    organizationId: main.organizationId,
    documentId: main.documentId,
    editorId: branchEditorId({ editorId: main.editorId, name }),
  })

function checkName(main: DocumentAddress, name: string): void {
  const shown = JSON.stringify(shortened(name, shownCharacters))
  if (name.includes(branchSeparator))
    throw invalid('branch/invalid-name', `the name of a branch must not contain "@": ${shown}`)
  const problem = idProblem(addressOf(main, name).editorId)
  if (problem !== null)
    throw invalid(
      'branch/invalid-name',
      `the editor id of the branch ${shown} ${problem}; use a shorter name`,
    )
}
