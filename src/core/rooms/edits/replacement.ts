import type { HunkDecision } from '../../content/branches/decide-hunks.ts'
import type { MainChanges } from '../../content/branches/follow-main.ts'
import { WorkLimit, WorkLimitError } from '../../content/edit/work-limit.ts'
import type { ReplacementResult } from '../../content/replacement-result.ts'
import {
  type CheckedChange,
  checkChange,
  isEdits,
  type PreparedChange,
  passesOf,
} from '../../content/root-change.ts'
import type { Version } from '../../model/version.ts'
import { applyWithinLimit } from '../threads/size-check.ts'
import type { PooledThread } from '../threads/thread-pool.ts'
import { type CopyEdit, type EditTask, runTask, type TaskOf } from '../threads/thread-task.ts'
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
  type EditableRoom,
  type EditResult,
  isCreating,
  isKeeping,
  prepareCreate,
  presentVersion,
  type ReplaceOptions,
  type RestoreOptions,
  resolveBase,
} from './editable-room.ts'
import { updatesOf } from './on-thread.ts'

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

/** Maximum steps of an edit in place of a larger document, which take about 10 ms. */
const editStepsMax = 1_000_000

/** Maximum milliseconds of creating the Y.Doc of a large document on the event loop, for edits in place. */
const loadMsMax = 30

/** A change that was computed in a copy of the document and is not in the document yet. */
interface ComputedEdit extends CopyEdit {
  /** The version for which the change was computed. It must still be the current one. */
  readonly version: Version
}

/** A change in a copy of the document, on a thread or, without one, on the event loop. */
interface Computation {
  /** True if the change takes too long for the event loop. */
  readonly isLarge: boolean
  readonly inPlace?: BackendChange<ReplacementResult>['inPlace']
  readonly compute: (thread: PooledThread | null) => Promise<ComputedEdit>
}

/** Changes the content of one open document: small content on the event loop, large content on a thread. */
export class Replacement {
  readonly #room: EditableRoom
  /** Milliseconds in which a thread last created the Y.Doc of the document. */
  #loadMs = Number.POSITIVE_INFINITY

  constructor(room: EditableRoom) {
    this.#room = room
  }

  /**
   * Changes a root of the document. The user `by` is the author of the change. Resolves when the change is
   * durable and sent.
   * @throws ApiError INVALID_ARGUMENT as for `checkChange`; NOT_FOUND, ALREADY_EXISTS, ABORTED,
   * FAILED_PRECONDITION if the document does not match `options` or the targets of edits; RESOURCE_EXHAUSTED if
   * too many large contents wait; UNAVAILABLE while the store cannot write
   */
  change(
    by: string,
    prepared: PreparedChange,
    options: ReplaceOptions,
  ): Promise<EditResult<ReplacementResult>> {
    const { state, dependencies } = this.#room
    const { change, size } = prepared
    const isFull = (options.full ?? null) !== null
    const needsCopy =
      options.dryRun === true ||
      isFull ||
      options.baseVersion !== undefined ||
      isKeeping(options) ||
      prepared.checked?.isAtomic === false
    const sizeMax = isEdits(change) && !needsCopy ? editedSizeMax : inlineSizeMax
    const isLarge =
      prepared.checked === null || state.isExpensive || size + passesOf(change) * state.sizeBytes > sizeMax
    if (isLarge && dependencies.threads.enabled) {
      const edited = isEdits(change) && !needsCopy && size <= inlineSizeMax ? prepared.checked : null
      return this.#make(by, options, {
        isLarge,
        inPlace: edited === null ? undefined : () => this.#changedWithin(edited, options),
        compute: (thread) => this.#replaced(thread, prepared, options),
      })
    }
    const checked = prepared.checked ?? checkChange(change)
    return this.#make(by, options, {
      isLarge: false,
      inPlace: needsCopy || !checked.isAtomic ? undefined : () => this.#changed(checked, options),
      compute: (thread) => this.#replaced(thread, { ...prepared, checked }, options),
    })
  }

  /**
   * Restores the content of `past`, a whole state (V1) of the document. The user `by` is the author of the
   * change. Resolves when the change is durable and sent. Updates that arrive while the document is locked
   * are applied afterwards, so they are not lost.
   * @throws ApiError as for `change`
   */
  restore(by: string, past: Uint8Array, options: RestoreOptions): Promise<EditResult<ReplacementResult>> {
    const { rootSchema: schema = null } = options
    return this.#makeInPresent(by, past.length, options, (edit) => ({
      ...edit,
      is: 'restore',
      past: withOwnBuffer(past),
      schema,
    }))
  }

  /**
   * Makes a decision on hunks of a branch: accepts them in the main editor, or rejects them in the branch. Resolves
   * when the change is durable and sent.
   * @throws ApiError as for `change`
   */
  decide(
    by: string,
    decision: HunkDecision,
    options: RestoreOptions,
  ): Promise<EditResult<ReplacementResult>> {
    const { client, other } = decision
    const { rootSchema: schema = null } = options
    return this.#makeInPresent(by, other.length, options, (edit) => ({
      ...edit,
      is: 'decide',
      decision: { ...decision, other: withOwnBuffer(other) },
      writers: client === undefined ? edit.writers : [{ client, clock: 0 }],
      schema,
    }))
  }

  /**
   * Applies changes of the main editor to a branch, so that no word consists of letters of both. Resolves when the change
   * is durable and sent.
   * @throws ApiError as for `change`
   */
  follow(by: string, changes: MainChanges, options: RestoreOptions): Promise<EditResult<ReplacementResult>> {
    const base = changes.base && withOwnBuffer(changes.base)
    const updates = changes.updates.map(withOwnBuffer)
    const size = bytesIn(updates) + (base?.length ?? 0)
    return this.#makeInPresent(by, size, options, (edit) => ({
      ...edit,
      is: 'follow',
      changes: { base, updates },
    }))
  }

  /** Makes a change that is valid for the present version only. @param size bytes in addition to those of the document */
  #makeInPresent(
    by: string,
    size: number,
    options: RestoreOptions,
    taskOf: (edit: EditTask) => CopyTask,
  ): Promise<EditResult<ReplacementResult>> {
    const { state } = this.#room
    return this.#make(by, options, {
      isLarge: state.isExpensive || size + state.sizeBytes > inlineSizeMax,
      compute: async (thread) => {
        beginEdit(this.#room, options)
        return this.#computed(thread, options, taskOf)
      },
    })
  }

  #make(
    by: string,
    options: RestoreOptions,
    { isLarge, inPlace, compute }: Computation,
  ): Promise<EditResult<ReplacementResult>> {
    const room = this.#room
    const { threads, metrics } = room.dependencies
    const isOnThread = isLarge && threads.enabled
    return makeChange(room, {
      by,
      options,
      runs: isOnThread ? 'thread' : 'event loop',
      prepare: isOnThread ? undefined : () => this.#prepare(options),
      inPlace,
      compute: async () => {
        if (!isOnThread) return this.#proposed(await compute(null), options)
        // Only the computation occupies a thread. A change that waits for the lock on a document must not
        // occupy one, because the holder of the lock may itself wait for a thread.
        const computed = await threads.use(room.address, compute)
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

  /** Makes a change directly in the document. */
  #changed(
    change: CheckedChange,
    options: RestoreOptions,
    work?: WorkLimit,
  ): AppliedChange<ReplacementResult> {
    const room = this.#room
    const { limits, metrics } = room.dependencies
    beginEdit(room, options)
    const write = (): ReplacementResult => applyWithinLimit(room.state, change, limits.documentBytesMax, work)
    const { result, added } = failUnlessRejected(room, () => room.state.edit(write))
    metrics.replacements.inc({ mode: 'inline' })
    return { result: () => result, added }
  }

  /**
   * Makes an edit directly in a large document, if there is a Y.Doc, or if a thread has created it quickly for
   * an earlier change. Returns null, and changes nothing, if the edit takes too long for an event loop.
   */
  #changedWithin(change: CheckedChange, options: RestoreOptions): AppliedChange<ReplacementResult> | null {
    const { state } = this.#room
    if (state.isExpensive || (state.bytes !== null && this.#loadMs > loadMsMax)) return null
    try {
      return this.#changed(change, options, new WorkLimit(editStepsMax))
    } catch (error) {
      if (error instanceof WorkLimitError) return null
      throw error
    }
  }

  /**
   * Makes a change in a copy of the document. If the call has a base version, makes the change in a copy of that
   * version, and merges it into a copy of the document.
   */
  async #replaced(
    thread: PooledThread | null,
    { change, checked }: PreparedChange,
    options: ReplaceOptions,
  ): Promise<ComputedEdit> {
    const room = this.#room
    let base: Version | null
    try {
      beginEdit(room, options)
      base = resolveBase(room, options)
    } catch (error) {
      // Problems of the content are reported first.
      if (checked === null) await thread?.run({ is: 'check', change })
      throw error
    }
    const past = base === null ? [] : await updatesOf(room, base, false)
    if (base !== null) beginEdit(room, options)
    const { onOverlap = 'report' } = options
    const computed = await this.#computed(thread, options, ({ updates, ...edit }) => ({
      ...edit,
      is: 'replace',
      change,
      // The result of the check has functions, which cannot be sent to a thread.
      checked: thread === null ? checked : null,
      updates: [...past, ...updates],
      merge: base === null ? undefined : { pastCount: past.length, onOverlap },
      documentBytesMax: copySizeMax(room, bytesIn(base === null ? updates : past)),
    }))
    if (thread !== null && base === null) this.#loadMs = computed.loadMs
    return computed
  }

  /** Runs a task that changes a copy of the present document. */
  async #computed(
    thread: PooledThread | null,
    options: RestoreOptions,
    taskOf: (edit: EditTask) => CopyTask,
  ): Promise<ComputedEdit> {
    const room = this.#room
    const { state, dependencies } = room
    const version = presentVersion(room)
    const task = taskOf({
      updates: thread === null ? [state.encode()] : await updatesOf(room, version, true),
      writers: state.mergers,
      documentBytesMax: dependencies.limits.documentBytesMax,
      state:
        thread === null || options.dryRun === true ? 'never' : state.bytes === null ? 'ifDear' : 'always',
      isBounded: thread === null,
    })
    return { ...(thread === null ? runTask(task) : await thread.run(task)), version }
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
        return isSame(version, presentVersion(room))
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

type CopyTask = TaskOf<'replace' | 'restore' | 'decide' | 'follow'>

/** Returns a copy of bytes that may be a view into a larger buffer, which would be sent to a thread as a whole. */
const withOwnBuffer = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes)

const bytesIn = (updates: readonly Uint8Array[]): number =>
  updates.reduce((sum, { length }) => sum + length, 0)

const isSame = (a: Version, b: Version): boolean => a.epoch === b.epoch && a.seq === b.seq
