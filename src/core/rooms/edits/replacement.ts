import type { ElementIndex } from '../../content/edit/targets/element-index.ts'
import { WorkLimit, WorkLimitError } from '../../content/edit/work-limit.ts'
import type { ReplacementResult } from '../../content/replacement-result.ts'
import {
  type ApplyHow,
  type CheckedChange,
  checkChange,
  isEdits,
  type PreparedChange,
  passesOf,
  type RootChange,
} from '../../content/root-change.ts'
import { contentKeyOf } from '../../content/roots.ts'
import type { Version } from '../../model/version.ts'
import type { Room } from '../room/room.ts'
import { applyWithinLimit } from '../threads/size-check.ts'
import type { PooledThread } from '../threads/thread-pool.ts'
import {
  type CopyEdit,
  type EditTask,
  type PresentEdit,
  runTask,
  type TaskOf,
} from '../threads/thread-task.ts'
import {
  type AppliedChange,
  type BackendChange,
  failUnlessRejected,
  makeChange,
  type ProposedChange,
} from './backend-change.ts'
import {
  beginEdit,
  copySizeMax,
  type EditResult,
  isCreating,
  prepareCreate,
  type ReplaceOptions,
  type RestoreOptions,
  resolveBase,
} from './edit-conditions.ts'

/**
 * Maximum sum of the bytes of the document and the characters of the content for a replacement on the event
 * loop. A larger replacement could block the event loop for more than 50 ms (worst case: 50 KB of text that
 * has nothing in common with the previous text).
 */
export const inlineSizeMax = 65_536

/**
 * Maximum sum as `inlineSizeMax`, for one edit in place. Such an edit compares only its target, and reads the
 * remaining document once.
 */
const editedSizeMax = 131_072

/** Maximum steps of an edit in place of a larger document, which take about 15 ms. */
const editStepsMax = 1_500_000

/** Maximum number of elements of a large document that an event loop reads in one tick. */
const elementsPerTick = 4_000

type CopyPlan<Name extends 'restore' | 'decide' | 'follow'> = Omit<TaskOf<Name>, keyof PresentEdit>

/** A change of content by a backend. */
type ContentPlan =
  /** Changes a root of the document. */
  | ({ readonly is: 'replace' } & PreparedChange)
  /**
   * Restores the content of `past`, a whole state (V1) of the document. Updates that arrive while the document is
   * locked are applied afterwards, so they are not lost.
   */
  | CopyPlan<'restore'>
  /** Accepts hunks of a branch in the main editor, or rejects them in the branch. */
  | CopyPlan<'decide'>
  /** Applies changes of the main editor to a branch, so that no word consists of letters of both. */
  | CopyPlan<'follow'>

/** A change that was computed in a copy of the document and is not in the document yet. */
interface ComputedEdit extends CopyEdit {
  /** The version for which the change was computed. It must still be the current one. */
  readonly version: Version
}

/** Changes the content of one open document: small content on the event loop, large content on a thread. */
export class Replacement {
  readonly #room: Room

  constructor(room: Room) {
    this.#room = room
  }

  /**
   * Changes the document. The user `by` is the author of the change. Resolves when the change is durable and sent.
   * @throws ApiError INVALID_ARGUMENT as for `checkChange`; NOT_FOUND, ALREADY_EXISTS, ABORTED,
   * FAILED_PRECONDITION if the document does not match `options` or the targets of edits; RESOURCE_EXHAUSTED if
   * too many large contents wait; UNAVAILABLE while the store cannot write
   */
  change(by: string, given: ContentPlan, options: ReplaceOptions): Promise<EditResult<ReplacementResult>> {
    const room = this.#room
    const { threads, metrics } = room.dependencies
    const isOnThread = threads.enabled && this.#isLarge(given, options)
    const plan =
      given.is !== 'replace' || isOnThread
        ? given
        : { ...given, checked: given.checked ?? checkChange(given.change) }
    const inPlace = this.#inPlace(plan, options, isOnThread)
    const isOpened = isOnThread && inPlace !== undefined && plan.is === 'replace'
    return makeChange(room, {
      by,
      options,
      runs: isOnThread ? 'thread' : 'event loop',
      prepare: isOpened
        ? () => this.#openFor(plan.change, options)
        : isOnThread
          ? undefined
          : () => this.#prepare(options),
      inPlace,
      compute: async () => {
        if (!isOnThread) return this.#proposed(await this.#computed(null, plan, options), options)
        // Only the computation occupies a thread. A change that waits for the lock on a document must not
        // occupy one, because the holder of the lock may itself wait for a thread.
        const computed = await threads.use(room.address, (thread) => this.#computed(thread, plan, options))
        // The document is created only after the computation, because the thread checks the content.
        await this.#prepare(options)
        return this.#proposed(computed, options)
      },
      computed: (when) => {
        const mode = when === 'first' ? 'thread' : 'thread_locked'
        metrics.replacements.inc({ mode: isOnThread ? mode : 'inline' })
      },
    })
  }

  /** Returns whether the change takes too long for the event loop. */
  #isLarge(plan: ContentPlan, options: ReplaceOptions): boolean {
    const { state } = this.#room
    if (state.isExpensive) return true
    if (plan.is !== 'replace') return bytesOf(plan) + state.sizeBytes > inlineSizeMax
    const { change, checked, size } = plan
    const sizeMax = isEdits(change) && !needsCopy(plan, options) ? editedSizeMax : inlineSizeMax
    return checked === null || size + passesOf(change) * state.sizeBytes > sizeMax
  }

  /** Returns the function that makes a change without a copy of the document; undefined if it needs one. */
  #inPlace(
    plan: ContentPlan,
    options: ReplaceOptions,
    isOnThread: boolean,
  ): BackendChange<ReplacementResult>['inPlace'] {
    if (plan.is !== 'replace' || needsCopy(plan, options)) return undefined
    const { change, checked, size } = plan
    if (checked === null) return undefined
    if (!isOnThread) return () => this.#changed(checked, options)
    return isEdits(change) && size <= inlineSizeMax ? () => this.#changedWithin(checked, options) : undefined
  }

  /**
   * Prepares an edit in a large document: creates the Y.Doc, and reads the elements of the root, in slices. Does nothing
   * if a thread should make the edit. The first edit of a document that is not open is one of these, because most such
   * documents are edited once.
   */
  async #openFor({ contentKey }: RootChange, options: RestoreOptions): Promise<void> {
    const room = this.#room
    const { state, dependencies, address } = room
    if (state.isExpensive || (state.bytes !== null && !state.wasReadOnThread)) return
    beginEdit(room, options)
    await room.openFor('doc')
    const runSlice = dependencies.slices.of(address.workspaceId)
    while (state.bytesToSplit === null) {
      const index = this.#elementsOf(contentKey)
      if (index === undefined || index.isPrepared) return
      if (await runSlice(() => index.prepare(elementsPerTick))) return
    }
  }

  /** Creates the Y.Doc if necessary. If its bytes are damaged or too expensive, the room ends. */
  #elementsOf(contentKey: RootChange['contentKey']): ElementIndex | undefined {
    const { state } = this.#room
    return failUnlessRejected(this.#room, () => state.elementsOf(contentKeyOf(state.doc, contentKey)))
  }

  /** Makes a change directly in the document. */
  #changed(
    change: CheckedChange,
    options: RestoreOptions,
    how: ApplyHow = {},
  ): AppliedChange<ReplacementResult> {
    const room = this.#room
    const { limits, metrics } = room.dependencies
    beginEdit(room, options)
    const write = (): ReplacementResult => applyWithinLimit(room.state, change, limits.documentBytesMax, how)
    const { result, added } = failUnlessRejected(room, () => room.state.edit(write))
    metrics.replacements.inc({ mode: 'inline' })
    return { result: () => result, added }
  }

  /**
   * Makes an edit directly in a large document that is open. Returns null, and changes nothing, if the edit takes too
   * long for an event loop.
   */
  #changedWithin(checked: CheckedChange, options: RestoreOptions): AppliedChange<ReplacementResult> | null {
    const { state } = this.#room
    if (state.isExpensive || state.bytes !== null) return null
    const index = this.#elementsOf(checked.change.contentKey)
    try {
      return this.#changed(checked, options, { work: new WorkLimit(editStepsMax), index })
    } catch (error) {
      if (error instanceof WorkLimitError) return null
      throw error
    }
  }

  /**
   * Makes a change in a copy of the present document. If the call has a base version, makes the change in a copy of
   * that version, and merges it into the copy of the document.
   * @param thread the thread that makes the change; null: this thread makes it
   */
  async #computed(
    thread: PooledThread | null,
    plan: ContentPlan,
    options: ReplaceOptions,
  ): Promise<ComputedEdit> {
    const room = this.#room
    const { state, dependencies } = room
    let base: Version | null
    try {
      beginEdit(room, options)
      base = resolveBase(room, options)
    } catch (error) {
      // Problems of the content are reported first.
      if (plan.is === 'replace' && plan.checked === null)
        await thread?.run({ is: 'check', change: plan.change })
      throw error
    }
    const past = base === null ? [] : await room.updatesOf(base, false)
    if (base !== null) beginEdit(room, options)
    const version = room.commits.version
    const edit: EditTask = {
      updates: thread === null ? [state.encode()] : await room.updatesOf(version, true),
      writers: writersOf(plan) ?? state.mergers,
      documentBytesMax: dependencies.limits.documentBytesMax,
      state:
        thread === null || options.dryRun === true ? 'never' : state.bytes === null ? 'ifDear' : 'always',
      isBounded: thread === null,
    }
    const { rootSchema: schema = null, onOverlap = 'report' } = options
    const { lastPrune } = room.generations
    const task: TaskOf<ContentPlan['is']> =
      plan.is === 'replace'
        ? {
            ...edit,
            is: 'replace',
            change: plan.change,
            // The result of the check has functions, which cannot be sent to a thread.
            checked: thread === null ? plan.checked : null,
            updates: [...past, ...edit.updates],
            merge: base === null ? undefined : { pastCount: past.length, onOverlap, lastPrune },
            documentBytesMax: copySizeMax(room, bytesIn(base === null ? edit.updates : past)),
          }
        : { ...edit, ...(thread === null ? plan : withOwnBuffers(plan)), schema }
    const computed = thread === null ? runTask(task) : await thread.run(task)
    state.wasReadOnThread ||= thread !== null && base === null
    return { ...computed, version }
  }

  /** @throws ApiError `options.keeping` if the change deletes content */
  #proposed(computed: ComputedEdit, options: RestoreOptions): ProposedChange<ReplacementResult> {
    const { change, update, state: after, version, writer, deletes } = computed
    const room = this.#room
    const { state } = room
    const { keeping = null } = options
    if (keeping !== null && deletes) throw keeping
    return {
      result: () => change,
      update,
      // The update contains changes for the branch, which are not those of the author of the main editor.
      ...((change.branchOverlaps?.length ?? 0) > 0 && { by: '' }),
      isCurrent: () => {
        beginEdit(room, options)
        if ((state.clocks.get(writer.client) ?? 0) !== writer.clock) return false
        return isSame(version, room.commits.version)
      },
      apply: () => {
        state.keepMerger(writer.client)
        if (update === null) return null
        if (after !== null) state.become(after)
        else state.applyOwn(update)
        return update
      },
    }
  }

  async #prepare(options: ReplaceOptions): Promise<void> {
    if (options.dryRun === true) return
    if (isCreating(this.#room, options)) resolveBase(this.#room, options)
    await prepareCreate(this.#room, options)
  }
}

/** Returns whether a change cannot be made directly in the document. */
const needsCopy = (
  { checked }: PreparedChange,
  { dryRun, full = null, baseVersion, keeping = null }: ReplaceOptions,
): boolean =>
  dryRun === true ||
  full !== null ||
  baseVersion !== undefined ||
  keeping !== null ||
  checked?.isAtomic === false

type PresentPlan = Exclude<ContentPlan, { readonly is: 'replace' }>

/** Returns the bytes that a change reads in addition to the document. */
function bytesOf(plan: PresentPlan): number {
  if (plan.is === 'restore') return plan.past.length
  if (plan.is === 'decide') return plan.decision.other.length
  return bytesIn(plan.changes.updates) + (plan.changes.base?.length ?? 0)
}

/** Returns the client with which a change must be written; undefined if there is none. */
function writersOf(plan: ContentPlan): EditTask['writers'] | undefined {
  const client = plan.is === 'decide' ? plan.decision.client : undefined
  return client === undefined ? undefined : [{ client, clock: 0 }]
}

/** Copies bytes that may be views into larger buffers, which would be sent to a thread as a whole. */
function withOwnBuffers(plan: PresentPlan): PresentPlan {
  if (plan.is === 'restore') return { ...plan, past: new Uint8Array(plan.past) }
  if (plan.is === 'decide')
    return { ...plan, decision: { ...plan.decision, other: new Uint8Array(plan.decision.other) } }
  const { base, updates } = plan.changes
  const changes = {
    base: base && new Uint8Array(base),
    updates: updates.map((bytes) => new Uint8Array(bytes)),
  }
  return { ...plan, changes }
}

const bytesIn = (updates: readonly Uint8Array[]): number =>
  updates.reduce((sum, { length }) => sum + length, 0)

const isSame = (a: Version, b: Version): boolean => a.epoch === b.epoch && a.seq === b.seq
