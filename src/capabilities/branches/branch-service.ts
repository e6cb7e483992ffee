import { randomInt } from 'node:crypto'
import * as Y from 'yjs'
import { ApiError, invalid } from '../../core/base/errors.ts'
import { KeyedMutex } from '../../core/base/keyed-mutex.ts'
import { shortened } from '../../core/base/text.ts'
import { type BranchHunk, type HunkAuthor, hunkAuthors } from '../../core/content/branches/branch-hunks.ts'
import { type HunkOverlap, overlapsIn } from '../../core/content/branches/branch-overlaps.ts'
import type { DecidedHunks } from '../../core/content/branches/decide-hunks.ts'
import {
  keptSide,
  type Overlap,
  type OverlapPolicy,
  overlapError,
  reportOf,
} from '../../core/content/merge/overlap.ts'
import type { ReplacementResult } from '../../core/content/replacement-result.ts'
import type { RootSchema } from '../../core/content/schemas/content-schema.ts'
import {
  type BranchDeletion,
  type BranchPlace,
  type BranchRecord,
  type BranchStatus,
  branchKeys,
  branchRecordType,
  requireOpen,
  writeBranch,
} from '../../core/directory/branches/branch-records.ts'
import { branchPlaceOf, noSuchBranch } from '../../core/directory/branches/branch-store.ts'
import { tellFeedOfDeletion } from '../../core/directory/documents/edit-activity-recorder.ts'
import type { ListPage, PageRange } from '../../core/directory/store/list-page.ts'
import type { Transaction } from '../../core/directory/store/transaction.ts'
import { addressKey, type DocumentAddress, documentAddress, idProblem } from '../../core/model/address.ts'
import { branchEditorId, branchSeparator, parseBranchEditorId } from '../../core/model/branch-address.ts'
import type { ChangeCause } from '../../core/model/change-origin.ts'
import { BackendEdits } from '../../core/rooms/edits/backend-edits.ts'
import { type EditResult, noContent } from '../../core/rooms/edits/edit-conditions.ts'
import { Replacement } from '../../core/rooms/edits/replacement.ts'
import { GenerationStore } from '../../core/rooms/log/generation-store.ts'
import { readAttribution } from '../../core/rooms/log/read-attribution.ts'
import { headConflict } from '../../core/rooms/room/room-errors.ts'
import { keyName } from '../../core/store/key-encoding.ts'
import { deletionOf } from '../../core/update/deletions.ts'
import type { Services } from '../../rest/services.ts'
import { judgmentJob } from '../comments/judgment-recorder.ts'
import { type BranchDecision, branchEvent } from './branch-events.ts'

/** A hunk of a branch, with its authors. */
export interface AttributedHunk extends BranchHunk {
  readonly authors: readonly HunkAuthor[]
}

interface BranchDiff {
  readonly branch: BranchRecord
  readonly hunks: readonly AttributedHunk[]
  /** The words and values of the hunks that the editor has also changed. */
  readonly overlaps: readonly HunkOverlap[]
  /** True if hunks were left out, because there are too many. */
  readonly truncated: boolean
}

interface HunkRequest {
  /** Id of the user who decides. */
  readonly userId: string
  /** Ids of the hunks to decide; absent: the whole branch. */
  readonly hunkIds?: readonly string[] | undefined
}

/** The result of a decision. */
export interface BranchOutcome extends Pick<DecidedHunks, 'unknown' | 'dependent'> {
  readonly branch: BranchRecord
  /** Ids of the decided hunks; after a decision on the whole branch, those that it had before. */
  readonly decided: readonly string[]
}

interface MergeRequest extends HunkRequest {
  readonly dryRun?: boolean | undefined
  /** What happens if the editor has changed the same words or values as the hunks. Default: `report`. */
  readonly onOverlap?: OverlapPolicy | undefined
  /** The error to throw for a merge that adds content, because the workspace is full; null if it is not. */
  readonly full: ApiError | null
  /** Returns the schema that the main editor must match after the merge; null without one. */
  readonly schema: () => Promise<RootSchema | null>
}

interface MergedBranch extends BranchOutcome {
  /** Version of the main editor after the merge. */
  readonly version: string
  /** Size in bytes of the update that clients of the main editor receive; 0 if nothing changed. */
  readonly bytes: number
  readonly overlaps: readonly Overlap[]
  /** Sentences about places that did not match the schema before: see `checkAgainstSchema`. */
  readonly warnings: readonly string[]
}

type AppliedBranch = Omit<MergedBranch, 'overlaps'>

/** Maximum characters of a name in an error. */
const shownCharacters = 100

/**
 * The branches of editors. A branch is an editor of its own: it starts with the state of its main editor, and
 * follows it (`rooms/branches`). A decision writes the branch to the main editor, or ends it.
 */
export class BranchService {
  readonly #services: Services
  /** Decisions on one branch run one after the other. All of them run at the owner of the document. */
  readonly #lines = new KeyedMutex()

  constructor(services: Services) {
    this.#services = services
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
    const { branchStore, rooms, documents, clock, engine } = this.#services
    checkName(main, name)
    await documents.requireEnabled(main, main.documentId)
    await this.#requireMain(main)
    const baseVersion = await rooms.use(main, (room) => new BackendEdits(room).version())
    if (baseVersion === null) throw noContent()
    const address = addressOf(main, name)
    const place = placeIn(main, name)
    const [head = null] = await engine.log.heads([addressKey(address)])
    if (head !== null && (await branchStore.find(main, place)) === null)
      throw new ApiError(
        'branch/exists',
        `the document has content for the editor id ${JSON.stringify(shortened(address.editorId, shownCharacters))}, which is not a branch; choose another name`,
      )
    const { editorId } = main
    const undecided = { status: 'open', decidedBy: '', decidedAt: null } as const
    const record = { editorId, name, createdBy: userId, createdAt: clock.now(), baseVersion, ...undecided }
    await branchStore.add(main, main.documentId, record)
    // Opening the branch copies the content.
    await rooms.use(address, (room) => new BackendEdits(room).version())
    rooms.announceBranch(address)
    return record
  }

  /** @throws ApiError NOT_FOUND */
  get(main: DocumentAddress, name: string): Promise<BranchRecord> {
    return this.#services.branchStore.require(main, placeIn(main, name))
  }

  /** Returns a page of the branches of an editor, in the order of their names. */
  async list(main: DocumentAddress, range: PageRange): Promise<ListPage<BranchRecord>> {
    const { items, next } = await this.#services.branchStore.list(main, main, range)
    return { items: items.filter(({ status }) => status !== 'deleted'), next }
  }

  /**
   * Returns the differences between a branch and its main editor, with their authors.
   * @throws ApiError NOT_FOUND; RESOURCE_EXHAUSTED if too many large reads wait
   */
  async diff(main: DocumentAddress, name: string): Promise<BranchDiff> {
    const branch = await this.get(main, name)
    if (branch.accepting === undefined) return this.#compare(main, name)
    return this.#alone(main, name, ({ name: finished }) => this.#compare(main, finished))
  }

  async #compare(main: DocumentAddress, name: string): Promise<BranchDiff> {
    const { rooms, engine } = this.#services
    const address = addressOf(main, name)
    // The branch is read second, because it must contain the whole main editor.
    const mainState = await this.#stateOf(main)
    const branchState = await this.#stateOf(address)
    const { hunks, truncated } = await rooms.compute(address, {
      is: 'compare',
      updates: [mainState, branchState],
    })
    const attribution = hunks.length === 0 ? null : await readAttribution(engine.log, addressKey(address))
    const authors = attribution === null ? () => [] : hunkAuthors(attribution)
    // The opened branch has recorded the overlaps with the changes that it has taken in.
    const branch = await this.get(main, name)
    return {
      branch,
      hunks: hunks.map((hunk) => ({ ...hunk, authors: authors(hunk) })),
      overlaps: overlapsIn(hunks, branch.overlaps ?? []),
      truncated,
    }
  }

  /**
   * Merges a branch into its main editor, in one update.
   *
   * All hunks: the changes keep their identity. The branch is then merged, and read-only. Merging it again applies
   * only what is still missing.
   *
   * Some hunks: the main editor gets copies of them, and the branch follows as before.
   *
   * If the main editor keeps its side at overlaps, their hunks are rejected.
   * @throws ApiError NOT_FOUND; FAILED_PRECONDITION if the branch is decided; ABORTED if there are overlaps and
   * `onOverlap` is `fail`; the errors of `apply`
   */
  merge(main: DocumentAddress, name: string, request: MergeRequest): Promise<MergedBranch> {
    return this.#alone(main, name, () => this.#merge(main, name, request))
  }

  async #merge(main: DocumentAddress, name: string, request: MergeRequest): Promise<MergedBranch> {
    const { onOverlap = 'report', hunkIds, dryRun, userId } = request
    const diff = await this.#compare(main, name)
    if (hunkIds !== undefined || diff.branch.status === 'rejected') requireOpen(diff.branch)
    const isWanted = (id: string): boolean => hunkIds?.includes(id) ?? true
    const found = diff.overlaps.filter((overlap) => overlap.hunkIds.some(isWanted))
    const kept = keptSide(onOverlap, true)
    const overlaps = found.map((overlap) => ({ ...overlap, kept }))
    if (overlaps.length > 0 && onOverlap === 'fail') throw overlapError(reportOf(overlaps))
    const lost = kept === 'theirs' ? found.flatMap((overlap) => overlap.hunkIds).filter(isWanted) : []
    if (lost.length === 0) return { ...(await this.#mergeAs(main, diff, request)), overlaps }
    if (dryRun !== true) await this.#rejectIn(main, diff.branch, userId, lost)
    const isLeft = (id: string): boolean => !lost.includes(id)
    const left = { ...diff, hunks: diff.hunks.filter(({ hunkId }) => isLeft(hunkId)) }
    // A dry run leaves the lost hunks in the branch, so it selects the others.
    const others = dryRun === true ? left.hunks.map(({ hunkId }) => hunkId) : undefined
    const merged = await this.#mergeAs(main, left, { ...request, hunkIds: hunkIds?.filter(isLeft) ?? others })
    return { ...merged, decided: [...merged.decided, ...lost], overlaps }
  }

  /** Merges hunks, or the whole branch, without regard to overlaps. */
  async #mergeAs(main: DocumentAddress, diff: BranchDiff, request: MergeRequest): Promise<AppliedBranch> {
    const { branch } = diff
    if (request.hunkIds !== undefined) return this.#mergeHunks(main, diff, request, request.hunkIds)
    const by = authorOf(diff.hunks, request.userId)
    const outcome = { ...noneLeft, decided: diff.hunks.map(({ hunkId }) => hunkId) }
    const merged = await this.#applyAll(main, branch, by, request)
    if (request.dryRun === true || branch.status === 'merged') return { ...merged, ...outcome, branch }
    const decided = await this.#decide(main, diff, 'merged', request.userId)
    // The branch is read-only now. A change that arrived before, and after it was read, is still missing.
    const rest = await this.#applyAll(main, decided, by, request)
    return { ...merged, ...outcome, branch: decided, version: rest.version, bytes: merged.bytes + rest.bytes }
  }

  /**
   * Rejects a branch, which is then read-only; or rejects some of its hunks, so that the branch has the content of
   * its main editor at their places. Rejecting them again changes nothing.
   * @throws ApiError NOT_FOUND; FAILED_PRECONDITION if the branch is decided
   */
  reject(main: DocumentAddress, name: string, request: HunkRequest): Promise<BranchOutcome> {
    return this.#alone(main, name, () => this.#reject(main, name, request))
  }

  async #reject(main: DocumentAddress, name: string, request: HunkRequest): Promise<BranchOutcome> {
    const diff = await this.#compare(main, name)
    const { branch } = diff
    const { userId, hunkIds } = request
    if (hunkIds !== undefined) return this.#rejectHunks(main, diff, userId, hunkIds)
    const outcome = { ...noneLeft, decided: diff.hunks.map(({ hunkId }) => hunkId) }
    if (branch.status === 'rejected') return { ...outcome, branch }
    return { ...outcome, branch: await this.#decide(main, diff, 'rejected', userId) }
  }

  /**
   * Deletes a branch with its content, so that it can be restored. Connections to it are closed.
   * @throws ApiError NOT_FOUND; ABORTED if the document is being deleted
   */
  async delete(main: DocumentAddress, name: string, check?: (branch: BranchRecord) => void): Promise<void> {
    await this.#services.documents.requireThere(main, main.documentId)
    const isRemoved = await this.#inLine(main, name, () => this.#remove(main, name, 'kept', check))
    if (!isRemoved) throw noSuchBranch({ name })
  }

  /**
   * Deletes all branches of an editor, before the editor is deleted. If it is a branch itself, removes its record. None
   * can be restored.
   */
  async deleteAll(editor: DocumentAddress): Promise<void> {
    for (let left = true; left; ) {
      const { items } = await this.list(editor, { after: undefined, limit: deletedAtOnce })
      for (const { name } of items) await this.#remove(editor, name, 'destroyed')
      left = items.length > 0
    }
    const ids = parseBranchEditorId(editor.editorId)
    if (ids !== null) await this.#services.branchStore.remove(editor, branchPlaceOf(editor.documentId, ids))
  }

  /**
   * Returns whether a deleted branch can follow its editor again: the editor was not pruned or migrated since, and is not
   * another one with the same id.
   */
  async canFollow(
    kept: DocumentAddress,
    editor: DocumentAddress,
    schema: Pick<BranchDeletion, 'schema' | 'version'> | undefined,
  ): Promise<boolean> {
    const { rooms, schemas, engine } = this.#services
    const [state, loaded] = [await rooms.stateOf(editor), await engine.log.load(addressKey(kept))]
    if (state === null || loaded.state !== 'live') return false
    const attached = await schemas.attachedTo(editor)
    if (attached?.schema === schema?.schema && attached?.version !== schema?.version) return false
    const { snapshot, entries } = loaded
    const updates = [...(snapshot === null ? [] : [snapshot]), ...entries.map(({ bytes }) => bytes)]
    const clocks = Y.parseUpdateMeta(state).to
    const clients = updates.flatMap((update) => [...Y.parseUpdateMeta(update).to.keys()])
    if (clocks.size > 0 && !clients.some((client) => clocks.has(client))) return false
    const { lastPrune } = await new GenerationStore(engine.blobs).load(editor, clocks)
    return lastPrune === null || clients.includes(lastPrune)
  }

  /** Returns the ids without those of branches. */
  async withoutBranches(
    document: Omit<DocumentAddress, 'editorId'>,
    editorIds: readonly string[],
  ): Promise<readonly string[]> {
    const { documents } = this.#services
    const isBranch = await Promise.all(
      editorIds.map((editorId) => documents.isBranch({ ...document, editorId })),
    )
    return editorIds.filter((_, index) => isBranch[index] === false)
  }

  async #remove(
    main: DocumentAddress,
    name: string,
    content: 'kept' | 'destroyed',
    check?: (branch: BranchRecord) => void,
  ): Promise<boolean> {
    const { rooms, documents, schemas, branchStore, store, events, engine, clock } = this.#services
    const address = addressOf(main, name)
    const branch = await branchStore.find(main, placeIn(main, name))
    if (branch === null) return false
    check?.(branch)
    const epoch = await engine.log.heads([addressKey(address)]).then(([head]) => head?.epoch ?? null)
    const deletion = { address, id: events.nextId(), epoch, user: { userId: 'api' }, at: clock.now() }
    if (epoch !== null) await tellFeedOfDeletion(store, events, deletion, 'before')
    const attached = await schemas.attachedTo(main)
    const { schema = '', version = 0 } = attached ?? {}
    const keeps = content === 'kept' ? { schema, version } : null
    const isRemoved = await documents.deleteBranch(main, name, keeps)
    rooms.announceBranch(address)
    if (epoch !== null) await tellFeedOfDeletion(store, events, deletion, 'after')
    return isRemoved
  }

  async #mergeHunks(
    main: DocumentAddress,
    diff: BranchDiff,
    { userId, dryRun, full, schema }: MergeRequest,
    hunkIds: readonly string[],
  ): Promise<AppliedBranch> {
    const { rooms, documents } = this.#services
    const { branch } = diff
    requireOpen(branch)
    const [right, rootSchema] = await Promise.all([documents.rightToChange(main), schema()])
    const wanted = diff.hunks.filter(({ hunkId }) => hunkIds.includes(hunkId))
    const other = await this.#stateOf(addressOf(main, branch.name))
    const client = randomInt(2 ** 32)
    const decision = { is: 'accept', other, hunkIds, client } as const
    const options = { expects: 'content', right, rootSchema, full, dryRun, cause: causeOf(branch) } as const
    const decide = (): Promise<EditResult<ReplacementResult>> =>
      rooms.use(main, (room) =>
        new Replacement(room).change(authorOf(wanted, userId), { is: 'decide', decision }, options),
      )
    const toOutcome = ({ result, version, bytes }: EditResult<ReplacementResult>): AppliedBranch => {
      const { decided, ...left } = result.hunks ?? noHunks
      const { warnings = [] } = result
      return { ...left, branch, version, bytes, warnings, decided: decided.map(({ hunkId }) => hunkId) }
    }
    if (dryRun === true) return toOutcome(await decide())
    await this.#begin(main, branch, { userId, client, hunks: acceptable(wanted, hunkIds) })
    const made = await rooms.replaceInBranch(addressOf(main, branch.name), async () => {
      const result = await decide()
      const { decided } = result.result.hunks ?? noHunks
      const removal = deletionOf(decided.flatMap(({ replaceable }) => replaceable))
      return {
        result,
        replaced: decided.length === 0 ? null : { by: userId, removal, cause: causeOf(branch) },
      }
    })
    const outcome = toOutcome(made)
    await this.#end(main, diff, { is: 'accept', userId, hunkIds: outcome.decided })
    return outcome
  }

  /**
   * Runs a decision while no other decision on the branch runs. First finishes a merge of hunks that a crash or a move
   * of the document has interrupted.
   * @throws ApiError NOT_FOUND if there is no branch
   */
  #alone<T>(main: DocumentAddress, name: string, work: (branch: BranchRecord) => Promise<T>): Promise<T> {
    return this.#inLine(main, name, async () => work(await this.#finished(main, await this.get(main, name))))
  }

  #inLine<T>(main: DocumentAddress, name: string, work: () => Promise<T>): Promise<T> {
    return this.#lines.run(keyName(addressKey(addressOf(main, name))), work)
  }

  /**
   * Stores what is needed to finish a merge of hunks after a crash.
   * @throws ApiError ABORTED if a merge at the next owner of the document has begun
   */
  async #begin(
    main: DocumentAddress,
    branch: BranchRecord,
    { userId, client, hunks }: { userId: string; client: number; hunks: readonly AttributedHunk[] },
  ): Promise<void> {
    const removal = deletionOf(hunks.flatMap(({ ranges }) => ranges.replaceable))
    const hunkIds = hunks.map(({ hunkId }) => hunkId)
    const accepting = { hunkIds, client, removal: Buffer.from(removal).toString('base64') }
    await this.#services.store.carryOut(main, (transaction) =>
      changeOpen(transaction, placeIn(main, branch.name), (open) => {
        if (open.accepting !== undefined) throw headConflict()
        return { ...open, decidedBy: userId, accepting }
      }),
    )
  }

  /** Finishes a merge of hunks that was interrupted: removes the hunks if the main editor has their copies. */
  async #finished(main: DocumentAddress, branch: BranchRecord): Promise<BranchRecord> {
    const { accepting, decidedBy: userId } = branch
    if (accepting === undefined) return branch
    const vector = await this.#services.rooms.use(main, async (room) => {
      await new BackendEdits(room).version()
      return room.state.vector()
    })
    const isAccepted = Y.decodeStateVector(vector).has(accepting.client)
    const removal = new Uint8Array(Buffer.from(accepting.removal, 'base64'))
    if (isAccepted) {
      const replaced = { by: userId, removal, cause: causeOf(branch) }
      await this.#services.rooms.replaceInBranch(addressOf(main, branch.name), async () => ({
        result: null,
        replaced,
      }))
    }
    const hunkIds = isAccepted ? accepting.hunkIds : []
    return this.#end(main, { branch, hunks: [] }, { is: 'accept', userId, hunkIds })
  }

  async #rejectHunks(
    main: DocumentAddress,
    diff: BranchDiff,
    userId: string,
    hunkIds: readonly string[],
  ): Promise<BranchOutcome> {
    const { branch } = diff
    requireOpen(branch)
    const { decided, ...left } = await this.#rejectIn(main, branch, userId, hunkIds)
    const outcome = { ...left, branch, decided: decided.map(({ hunkId }) => hunkId) }
    await this.#end(main, diff, { is: 'reject', userId, hunkIds: outcome.decided })
    return outcome
  }

  /** Gives a branch the content of its main editor at the places of hunks. */
  async #rejectIn(
    main: DocumentAddress,
    branch: BranchRecord,
    userId: string,
    hunkIds: readonly string[],
  ): Promise<DecidedHunks> {
    const { rooms, documents } = this.#services
    const address = addressOf(main, branch.name)
    const right = await documents.rightToChange(address)
    const decision = { is: 'reject', other: await this.#stateOf(main), hunkIds } as const
    const options = { expects: 'content', right, cause: causeOf(branch) } as const
    const { result } = await rooms.use(address, (room) =>
      new Replacement(room).change(userId, { is: 'decide', decision }, options),
    )
    return result.hunks ?? noHunks
  }

  async #stateOf(address: DocumentAddress): Promise<Uint8Array> {
    const captured = await this.#services.rooms.use(address, (room) => new BackendEdits(room).capture())
    if (captured === null) throw noContent()
    return captured.bytes
  }

  async #applyAll(
    main: DocumentAddress,
    branch: BranchRecord,
    by: string,
    { dryRun, full, schema }: MergeRequest,
  ): Promise<Pick<MergedBranch, 'version' | 'bytes' | 'warnings'>> {
    const { rooms, documents } = this.#services
    const [right, rootSchema] = await Promise.all([documents.rightToChange(main), schema()])
    const vector = await rooms.use(main, async (room) => room.state.vector())
    const bytes = await rooms.use(addressOf(main, branch.name), (room) =>
      new BackendEdits(room).missing(vector),
    )
    const options = { expects: 'content', right, rootSchema, full, dryRun, cause: causeOf(branch) } as const
    const applied = await rooms.use(main, (room) => new BackendEdits(room).apply(by, bytes, options))
    return { version: applied.version, bytes: applied.bytes, warnings: applied.result.warnings }
  }

  /** Stores a decision on a whole branch, with its event and its judgments. */
  async #decide(
    main: DocumentAddress,
    { branch, hunks }: BranchDiff,
    status: Exclude<BranchStatus, 'open'>,
    userId: string,
  ): Promise<BranchRecord> {
    const is = status === 'merged' ? 'accept' : 'reject'
    const place = placeIn(main, branch.name)
    const result = await this.#record(main, { is, userId, hunkIds: null }, hunks, async (transaction) => {
      const present = await transaction.get(branchKeys.branch(place), branchRecordType)
      if (present === null) throw noSuchBranch(branch)
      if (present.status === status) return { branch: present, isNew: false }
      requireOpen(present)
      const decidedAt = this.#services.clock.now()
      const decided: BranchRecord = { ...present, status, decidedBy: userId, decidedAt }
      await writeBranch(transaction, place, decided)
      return { branch: decided, isNew: true }
    })
    const { rooms } = this.#services
    // Else an open branch would follow until the next change of its main editor, and prevent its prunes.
    await rooms.use(addressOf(main, branch.name), async () => {})
    rooms.announceBranch(addressOf(main, branch.name))
    return result
  }

  /** Stores the event and the judgments of a decision on some hunks, and the end of the decision. */
  #end(
    main: DocumentAddress,
    { branch, hunks }: Pick<BranchDiff, 'branch' | 'hunks'>,
    decision: Pick<BranchDecision, 'is' | 'userId'> & { readonly hunkIds: readonly string[] },
  ): Promise<BranchRecord> {
    const decided = hunks.filter(({ hunkId }) => decision.hunkIds.includes(hunkId))
    return this.#record(main, decision, decided, async (transaction) => {
      let isEnded = false
      const present = await changeOpen(transaction, placeIn(main, branch.name), (open) => {
        const { accepting, ...rest } = open
        // The next owner of the document has ended the merge.
        isEnded = decision.is === 'accept' && accepting === undefined
        return { ...rest, decidedBy: '' }
      })
      return { branch: present, isNew: !isEnded && decision.hunkIds.length > 0 }
    })
  }

  /** Runs `change` in a transaction that also records the decision, unless it was made before. */
  #record(
    main: DocumentAddress,
    { is, userId, hunkIds }: Pick<BranchDecision, 'is' | 'userId' | 'hunkIds'>,
    hunks: readonly AttributedHunk[],
    change: (transaction: Transaction) => Promise<{ branch: BranchRecord; isNew: boolean }>,
  ): Promise<BranchRecord> {
    const { store, events, judging, clock } = this.#services
    const { documentId } = main
    const texts = hunks.map(judgedText).filter((text) => text !== '')
    return judging.await(Math.min(texts.length, judgmentsMax), (jobIds) =>
      store.carryOut(main, async (transaction) => {
        const { branch, isNew } = await change(transaction)
        if (!isNew) return { result: branch, jobIds: [] }
        events.recordNew(transaction, main, [branchEvent({ is, documentId, branch, userId, hunkIds })])
        const decision = is === 'accept' ? 'approve' : 'reject'
        const judged = {
          scope: main,
          documentId,
          decision,
          reviewerId: userId,
          judgedAt: clock.now(),
        } as const
        for (const [at, jobId] of jobIds.entries())
          transaction.enqueue(judgmentJob({ ...judged, jobId, text: texts[at] ?? '' }))
        return { result: branch, jobIds }
      }),
    )
  }

  async #requireMain(main: DocumentAddress): Promise<void> {
    if (!(await this.#services.documents.isBranch(main))) return
    throw new ApiError(
      'branch/of-branch',
      `the editor ${JSON.stringify(shortened(main.editorId, shownCharacters))} is a branch, and a branch has no branches; name the editor that it follows`,
    )
  }
}

/** Returns the hunks that a merge accepts. Such a hunk needs no hunk outside the merge. */
const acceptable = (
  hunks: readonly AttributedHunk[],
  hunkIds: readonly string[],
): readonly AttributedHunk[] => hunks.filter(({ dependsOn }) => dependsOn.every((id) => hunkIds.includes(id)))

/** Changes the record of a branch that is open. Writes nothing if nothing changes. */
async function changeOpen(
  transaction: Transaction,
  place: BranchPlace,
  change: (open: BranchRecord) => BranchRecord,
): Promise<BranchRecord> {
  const present = await transaction.get(branchKeys.branch(place), branchRecordType)
  if (present === null) throw noSuchBranch(place)
  requireOpen(present)
  const changed = change(present)
  if (changed.accepting !== present.accepting) await writeBranch(transaction, place, changed)
  return changed
}

/** Maximum number of judgments that one decision stores: one for each of the first hunks with text. */
const judgmentsMax = 50

const noneLeft = { unknown: [], dependent: [] } as const
const noHunks: DecidedHunks = { decided: [], unknown: [], dependent: [] }

const causeOf = ({ name }: BranchRecord): ChangeCause => ({ source: 'branch', meta: { branch: name } })

/** Returns the only author of hunks; the user who decides if there are several, or none is known. */
function authorOf(hunks: readonly AttributedHunk[], userId: string): string {
  const authors = new Set(hunks.flatMap((hunk) => hunk.authors.map((author) => author.userId)))
  const [only] = authors
  return authors.size === 1 && only !== undefined ? only : userId
}

/** Returns the text that a judgment quotes: the deleted and the inserted text of a hunk. */
const judgedText = ({ deleted, inserted }: AttributedHunk): string =>
  [deleted, inserted]
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .join(' → ')

/** Number of branches that are deleted after one read. */
const deletedAtOnce = 100

const placeIn = ({ documentId, editorId }: DocumentAddress, name: string): BranchPlace =>
  branchPlaceOf(documentId, { editorId, name })

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
