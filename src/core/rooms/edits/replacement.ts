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
import { DocumentState } from '../document/document-state.ts'
import { loadVersion } from '../log/version-content.ts'
import {
  applyWithinLimit,
  changeAndMerge,
  decideWithinLimit,
  followWithinLimit,
  restoreWithinLimit,
} from '../threads/size-check.ts'
import type { PooledThread } from '../threads/thread-pool.ts'
import {
  type AppliedChange,
  type BackendChange,
  failUnlessRejected,
  makeChange,
  type ProposedChange,
} from './backend-change.ts'
import {
  baseVersionExpired,
  beginEdit,
  copySizeMax,
  type EditContext,
  type EditResult,
  isCreating,
  isKeeping,
  prepareCreate,
  presentVersion,
  type ReplaceOptions,
  type RestoreOptions,
  resolveBase,
} from './edit-context.ts'
import {
  type ComputedEdit,
  computeOnThread,
  decideOnThread,
  followOnThread,
  restoreOnThread,
  writersFor,
} from './thread-compute.ts'

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

/** Changes the content of one open document: small content on the event loop, large content on a thread. */
export class Replacement {
  readonly #room: EditContext
  /** Milliseconds in which a thread last created the Y.Doc of the document. */
  #loadMs = Number.POSITIVE_INFINITY

  constructor(room: EditContext) {
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
    const room = this.#room
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
      prepared.checked === null ||
      room.state.isExpensive ||
      size + passesOf(change) * room.state.sizeBytes > sizeMax
    if (isLarge && room.threads.enabled) {
      const edited = isEdits(change) && !needsCopy && size <= inlineSizeMax ? prepared.checked : null
      return this.#onThread(
        by,
        {
          inPlace: edited === null ? undefined : () => this.#changedWithin(edited, options),
          compute: async (thread) => {
            const computed = await computeOnThread(room, thread, prepared, options)
            if (computed.loadMs !== undefined) this.#loadMs = computed.loadMs
            return computed
          },
        },
        options,
      )
    }
    const checked = prepared.checked ?? checkChange(change)
    const inPlace = needsCopy || !checked.isAtomic ? undefined : () => this.#changed(checked, options)
    return this.#onLoop(by, { inPlace, compute: () => this.#computed(checked, options) }, options)
  }

  /**
   * Restores the content of `past`, a whole state (V1) of the document. The user `by` is the author of the
   * change. Resolves when the change is durable and sent. Updates that arrive while the document is locked
   * are applied afterwards, so they are not lost.
   * @throws ApiError as for `change`
   */
  restore(by: string, past: Uint8Array, options: RestoreOptions): Promise<EditResult<ReplacementResult>> {
    const room = this.#room
    const isLarge = room.state.isExpensive || past.length + room.state.sizeBytes > inlineSizeMax
    return isLarge && room.threads.enabled
      ? this.#onThread(by, { compute: (thread) => restoreOnThread(room, thread, past, options) }, options)
      : this.#onLoop(by, { compute: async () => this.#restored(past, options) }, options)
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
    const room = this.#room
    const isLarge = room.state.isExpensive || decision.other.length + room.state.sizeBytes > inlineSizeMax
    return isLarge && room.threads.enabled
      ? this.#onThread(by, { compute: (thread) => decideOnThread(room, thread, decision, options) }, options)
      : this.#onLoop(by, { compute: async () => this.#decided(decision, options) }, options)
  }

  /**
   * Applies changes of the main editor to a branch, so that no word consists of letters of both. Resolves when the change
   * is durable and sent.
   * @throws ApiError as for `change`
   */
  follow(by: string, changes: MainChanges, options: RestoreOptions): Promise<EditResult<ReplacementResult>> {
    const room = this.#room
    const { base, updates } = changes
    const size = [...updates, ...(base === null ? [] : [base])].reduce((sum, { length }) => sum + length, 0)
    return (room.state.isExpensive || size + room.state.sizeBytes > inlineSizeMax) && room.threads.enabled
      ? this.#onThread(by, { compute: (thread) => followOnThread(room, thread, changes, options) }, options)
      : this.#onLoop(by, { compute: async () => this.#followed(changes, options) }, options)
  }

  #onLoop(
    by: string,
    { inPlace, compute }: Computations,
    options: RestoreOptions,
  ): Promise<EditResult<ReplacementResult>> {
    const room = this.#room
    return makeChange(room, {
      by,
      options,
      runs: 'event loop',
      needsHead: true,
      firstPause: 'if overtakable',
      prepare: () => this.#prepare(options),
      inPlace,
      compute: async () => this.#proposed(await compute(), options),
      computed: () => room.replaced('inline'),
    })
  }

  #onThread(
    by: string,
    { inPlace, compute }: ThreadComputations,
    options: RestoreOptions,
  ): Promise<EditResult<ReplacementResult>> {
    const room = this.#room
    return makeChange(room, {
      by,
      options,
      runs: 'thread',
      needsHead: true,
      firstPause: 'never',
      inPlace,
      compute: async () => {
        // Only the computation occupies a thread. A change that waits for the lock on a document must not
        // occupy one, because the holder of the lock may itself wait for a thread.
        const computed = await room.threads.use(room.address, compute)
        // The document is created only after the computation, because the thread checks the content.
        await this.#prepare(options)
        return this.#proposed(computed, options)
      },
      computed: (when) => room.replaced(when === 'first' ? 'thread' : 'thread_locked'),
    })
  }

  /** Makes a change directly in the document. */
  #changed(
    change: CheckedChange,
    options: RestoreOptions,
    work?: WorkLimit,
  ): AppliedChange<ReplacementResult> {
    const room = this.#room
    const { state, documentBytesMax } = room
    beginEdit(room, options)
    const write = (): ReplacementResult => applyWithinLimit(state, change, documentBytesMax, work)
    const { result, added } = failUnlessRejected(room, () => state.edit(write))
    room.replaced('inline')
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
   * Makes a change in a working copy of the base version, or of the current document if the call has no
   * base version.
   */
  async #computed(checked: CheckedChange, options: ReplaceOptions): Promise<ComputedEdit> {
    const room = this.#room
    const past = await this.#past(options)
    beginEdit(room, options)
    if (past === null && resolveBase(room, options) !== null) return this.#computed(checked, options)
    if (past !== null) return this.#merged(past, checked, options)
    return this.#ofPresent(options, (copy) => applyWithinLimit(copy, checked, room.documentBytesMax))
  }

  /** Makes a change in `past`, and merges it into a copy of the document. */
  #merged(
    past: DocumentState,
    checked: CheckedChange,
    { onOverlap = 'report' }: ReplaceOptions,
  ): ComputedEdit {
    const room = this.#room
    const version = presentVersion(room)
    const copy = DocumentState.fromBytes(room.state.encode())
    const writer = past.writeAs(room.state.mergers)
    copy.doc.clientID = writer.client
    const bytesMax = copySizeMax(room, past.sizeBytes)
    const { result, update, deletes } = changeAndMerge([past, copy], checked, { onOverlap, bytesMax })
    for (const { doc } of [past, copy]) doc.destroy()
    return { writer, change: result, update, deletes, state: null, version }
  }

  #restored(past: Uint8Array, options: RestoreOptions): ComputedEdit {
    return this.#ofPresent(options, (copy) =>
      restoreWithinLimit(copy, past, this.#room.documentBytesMax, options.rootSchema ?? null),
    )
  }

  #decided(decision: HunkDecision, options: RestoreOptions): ComputedEdit {
    const room = this.#room
    return this.#ofPresent(
      options,
      (copy) => decideWithinLimit(copy, decision, room.documentBytesMax, options.rootSchema ?? null),
      writersFor(room, decision),
    )
  }

  #followed(changes: MainChanges, options: RestoreOptions): ComputedEdit {
    return this.#ofPresent(options, (copy) => followWithinLimit(copy, changes, this.#room.documentBytesMax))
  }

  /** Makes a change that is valid for the present version only, in a copy of it. */
  #ofPresent(
    options: RestoreOptions,
    work: (copy: DocumentState) => ReplacementResult,
    writers = this.#room.state.mergers,
  ): ComputedEdit {
    const room = this.#room
    beginEdit(room, options)
    const version = presentVersion(room)
    const copy = DocumentState.fromBytes(room.state.encode())
    const writer = copy.writeAs(writers)
    const { result, added, deletes } = copy.edit(() => work(copy))
    copy.doc.destroy()
    return { writer, change: result, update: added, deletes, state: null, version }
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
      apply: (how) => {
        state.keepMerger(writer.client)
        if (update === null) return null
        if (how === 'among others') return state.integrateOwn(update)
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

  /**
   * Returns the document at `baseVersion`; null if the document has not changed since that version.
   * @throws ApiError as for `beginEdit`
   */
  async #past(options: ReplaceOptions): Promise<DocumentState | null> {
    const room = this.#room
    beginEdit(room, options)
    const base = resolveBase(room, options)
    if (base === null) return null
    const past = await loadVersion(room.log, room.doc, base)
    if (past === null) throw baseVersionExpired()
    return past
  }
}

interface ThreadComputations {
  readonly inPlace?: BackendChange<ReplacementResult>['inPlace']
  readonly compute: (thread: PooledThread) => Promise<ComputedEdit>
}

interface Computations {
  readonly inPlace?: BackendChange<ReplacementResult>['inPlace']
  readonly compute: () => Promise<ComputedEdit>
}

const isSame = (a: Version, b: Version): boolean => a.epoch === b.epoch && a.seq === b.seq
