import type { PreparedContent } from '../../content/prepared-content.ts'
import { type CheckedContent, checkContent, checkKind } from '../../content/replace.ts'
import type { ReplacementResult } from '../../content/replacement-result.ts'
import { ApiError } from '../../errors.ts'
import type { Version } from '../../model/version.ts'
import { loadVersion } from '../log/version-content.ts'
import { DocumentState } from '../room/document-state.ts'
import { whileAllowed } from '../room/write-rights.ts'
import type { PooledThread } from '../threads/thread-pool.ts'
import { baseVersionExpired, copySizeMax, resolveBase } from './base-version.ts'
import { commitIfUnchanged, headConflict, type ProposedChange } from './commit-if-unchanged.ts'
import {
  beginEdit,
  checkStorage,
  commitEdit,
  type EditContext,
  type EditResult,
  isCreating,
  prepareCreate,
  presentVersion,
  type ReplaceOptions,
  type RestoreOptions,
  rejectWhenDurable,
  waitUntilDurable,
} from './edit-context.ts'
import { replaceWithinLimit, restoreWithinLimit } from './size-check.ts'
import { type ComputedEdit, computeOnThread, madeFor, restoreOnThread } from './thread-compute.ts'

/**
 * Document and content together, in bytes and characters, up to which a replacement is computed on the event loop: what
 * is larger could hold it for more than 50 ms, at 50 KB of text that have nothing in common with what they replace.
 */
export const inlineSizeMax = 65_536

/** Replaces the content of one open document: small things at once, large ones on a thread. */
export class Replacement {
  readonly #room: EditContext

  constructor(room: EditContext) {
    this.#room = room
  }

  /**
   * Makes a root of the document equal to the content, as user `by`; resolves when that is durable and sent.
   * @throws ApiError INVALID_ARGUMENT as `checkContent` does; NOT_FOUND, ALREADY_EXISTS, ABORTED, FAILED_PRECONDITION
   *   when the document is not what `options` expect; RESOURCE_EXHAUSTED when too many large contents wait;
   *   UNAVAILABLE when the store is away
   */
  replace(
    by: string,
    content: PreparedContent,
    options: ReplaceOptions,
  ): Promise<EditResult<ReplacementResult>> {
    const room = this.#room
    const isLarge =
      content.checked === null ||
      room.state.isExpensive ||
      content.size + room.state.sizeBytes > inlineSizeMax
    if (isLarge && room.threads.enabled) {
      const compute = (thread: PooledThread): Promise<ComputedEdit> =>
        computeOnThread(room, thread, content, options)
      return whileAllowed(options.right, () =>
        rejectWhenDurable(room, () => this.#offload(by, compute, options)),
      )
    }
    const checked = content.checked ?? checkContent(content.target)
    return whileAllowed(options.right, () =>
      rejectWhenDurable(room, () => this.#inline(by, checked, options)),
    )
  }

  /**
   * Gives the document the content of `past`, a whole state (V1) of it, as user `by`; resolves when that is durable and
   * sent. What others do meanwhile is a change of the document as it is then: it stays.
   * @throws ApiError as `replace` does
   */
  restore(by: string, past: Uint8Array, options: RestoreOptions): Promise<EditResult<ReplacementResult>> {
    const room = this.#room
    const isLarge = room.state.isExpensive || past.length + room.state.sizeBytes > inlineSizeMax
    const compute = (thread: PooledThread): Promise<ComputedEdit> =>
      restoreOnThread(room, thread, past, options)
    const restore = (): Promise<EditResult<ReplacementResult>> =>
      isLarge && room.threads.enabled
        ? this.#offload(by, compute, options)
        : this.#restoreInline(by, past, options)
    return whileAllowed(options.right, () => rejectWhenDurable(room, restore))
  }

  async #restoreInline(
    by: string,
    past: Uint8Array,
    options: RestoreOptions,
  ): Promise<EditResult<ReplacementResult>> {
    const room = this.#room
    const compute = (): ComputedEdit => {
      beginEdit(room, options)
      const copy = DocumentState.fromBytes(room.state.encode())
      const made = { for: 'present', version: presentVersion(room) } as const
      return this.#onCopy(copy, made, () => restoreWithinLimit(copy, past, room.documentBytesMax))
    }
    await this.#prepare(options)
    room.replaced('inline')
    if (!room.commits.hasOneWriter) return this.#agreed(by, async () => compute(), options)
    while (room.held() !== null) await room.held()
    return this.#merged(by, compute(), options)
  }

  /** Where other nodes write to the document too. */
  #agreed(
    by: string,
    compute: () => Promise<ComputedEdit>,
    options: RestoreOptions,
  ): Promise<EditResult<ReplacementResult>> {
    const { dryRun, right } = options
    return commitIfUnchanged(this.#room, { by, dryRun, right }, async () => {
      const computed = await compute()
      checkStorage(options, computed.update)
      return this.#proposal(computed)
    })
  }

  #proposal({ change, update, state: after, made, writer }: ComputedEdit): ProposedChange<ReplacementResult> {
    const { state, commits } = this.#room
    // Since then an empty root may have become something.
    if (made.for === 'past' && update !== null) checkKind(state.doc, made.content.target, made.content.kind)
    const isOfAnother = made.for === 'present' && made.version.epoch !== commits.epoch
    return {
      result: change,
      head: isOfAnother ? -1 : made.for === 'present' ? made.version.seq : commits.head,
      update,
      apply: (how) => {
        state.keepMerger(writer.client)
        if (update === null) return
        if (how === 'alone' && after !== null) state.become(after)
        else if (how === 'alone' && made.for === 'present') state.applyPlain([{ bytes: update }])
        else state.integrate(update)
      },
    }
  }

  /** Makes the change to a copy for the log to decide about: the document itself may be behind it. */
  async #proposed(content: CheckedContent, options: ReplaceOptions): Promise<ComputedEdit> {
    const room = this.#room
    const past = await this.#past(options)
    beginEdit(room, options)
    if (past === null && resolveBase(room, options) !== null) return this.#proposed(content, options)
    const version = presentVersion(room)
    const copy = past ?? DocumentState.fromBytes(room.state.encode())
    const sizeMax = past === null ? room.documentBytesMax : copySizeMax(room, copy.sizeBytes)
    const made = past === null ? ({ for: 'present', version } as const) : ({ for: 'past', content } as const)
    return this.#onCopy(copy, made, () => replaceWithinLimit(copy, content, sizeMax))
  }

  async #inline(
    by: string,
    content: CheckedContent,
    options: ReplaceOptions,
  ): Promise<EditResult<ReplacementResult>> {
    const room = this.#room
    await this.#prepare(options)
    if (!room.commits.hasOneWriter) {
      room.replaced('inline')
      return this.#agreed(by, () => this.#proposed(content, options), options)
    }
    const past = await this.#past(options)
    while (room.held() !== null) await room.held()
    // From here to the commit nothing is awaited: whoever else waited for the same finds out what has become of it.
    beginEdit(room, options)
    if (past === null && resolveBase(room, options) !== null) return this.#inline(by, content, options)
    room.replaced('inline')
    const { state, documentBytesMax } = room
    const isFull = (options.full ?? null) !== null
    if (past !== null || options.dryRun === true || isFull) {
      const copy = past ?? DocumentState.fromBytes(state.encode())
      const sizeMax = copySizeMax(room, copy.sizeBytes)
      const computed = this.#onCopy(copy, { for: 'past', content }, () =>
        replaceWithinLimit(copy, content, sizeMax),
      )
      return this.#merged(by, computed, options)
    }
    const write = (): ReplacementResult => replaceWithinLimit(state, content, documentBytesMax)
    const { result, added } = this.#applied(() => state.edit(write))
    return this.#committed({ by, right: options.right }, result, added)
  }

  /** Makes the change to a copy of the document, of now or of then. */
  #onCopy(copy: DocumentState, made: ComputedEdit['made'], work: () => ReplacementResult): ComputedEdit {
    const writer = copy.writeAs(this.#room.state.mergers)
    const { result, added } = copy.edit(work)
    copy.doc.destroy()
    return { writer, change: result, update: added, state: null, made: madeFor(made, result) }
  }

  /**
   * Computes the change on a thread. When the document has moved on meanwhile, once more, and this time what arrives
   * waits: other documents are never held up, and this one for no longer than it takes. The thread is given back before
   * the disk is waited for.
   */
  async #offload(
    by: string,
    computeOn: (thread: PooledThread) => Promise<ComputedEdit>,
    options: RestoreOptions,
  ): Promise<EditResult<ReplacementResult>> {
    const room = this.#room
    const { answer } = await room.threads.use(room.address, async (thread) => {
      const compute = async (): Promise<ComputedEdit> => {
        const computed = await computeOn(thread)
        await this.#prepare(options)
        return computed
      }
      let first: ComputedEdit | null = await compute()
      if (!room.commits.hasOneWriter) {
        room.replaced('thread')
        const next = async (): Promise<ComputedEdit> => {
          const computed = first !== null && this.#stillFits(first, options) ? first : await compute()
          first = null
          return computed
        }
        // Not given back before: the next try needs it again.
        return { answer: await this.#agreed(by, next, options) }
      }
      if (options.dryRun === true || (room.held() === null && this.#stillFits(first, options))) {
        room.replaced('thread')
        return { answer: this.#merged(by, first, options) }
      }
      while (room.held() !== null) await room.held()
      const release = room.hold()
      try {
        const second = await compute()
        if (!this.#stillFits(second, options)) throw headConflict()
        room.replaced('thread_locked')
        return { answer: this.#merged(by, second, options) }
      } finally {
        release()
      }
    })
    return answer
  }

  async #prepare(options: ReplaceOptions): Promise<void> {
    if (options.dryRun === true) return
    if (isCreating(this.#room, options)) resolveBase(this.#room, options)
    await prepareCreate(this.#room, options)
  }

  /** Is the document still what the difference was computed for? @throws ApiError as `begin` does */
  #stillFits({ writer, made }: ComputedEdit, options: RestoreOptions): boolean {
    const room = this.#room
    beginEdit(room, options)
    if ((room.state.clocks.get(writer.client) ?? 0) !== writer.clock) return false
    return made.for === 'past' || isSame(made.version, presentVersion(room))
  }

  /** The document at `baseVersion`; null when that is what it is now. @throws ApiError as `begin` does */
  async #past(options: ReplaceOptions): Promise<DocumentState | null> {
    const room = this.#room
    beginEdit(room, options)
    const base = resolveBase(room, options)
    if (base === null) return null
    const past = await loadVersion(room.log, room.doc, base)
    if (past === null) throw baseVersionExpired()
    return past
  }

  /** Brings what was computed into the document, at once. */
  async #merged(
    by: string,
    { change, update, state: after, made, writer }: ComputedEdit,
    options: RestoreOptions,
  ): Promise<EditResult<ReplacementResult>> {
    const { state } = this.#room
    const { dryRun = false, right } = options
    checkStorage(options, update)
    if (dryRun) return { ...(await waitUntilDurable(this.#room, change)), bytes: update?.length ?? 0 }
    if (update === null) return this.#committed({ by, right }, change, null)
    state.keepMerger(writer.client)
    if (after !== null) state.become(after)
    else if (made.for === 'present') this.#applied(() => state.applyPlain([{ bytes: update }]))
    else {
      // Since then an empty root may have become something.
      checkKind(state.doc, made.content.target, made.content.kind)
      return this.#committed(
        { by, right },
        change,
        this.#applied(() => state.integrate(update).added),
      )
    }
    return this.#committed({ by, right }, change, update)
  }

  /** A refusal comes before the first change. Anything else may have left half an edit behind. */
  #applied<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      if (!(error instanceof ApiError)) this.#room.fail(error)
      throw error
    }
  }

  async #committed(
    writer: Parameters<typeof commitEdit>[1],
    change: ReplacementResult,
    added: Uint8Array | null,
  ): Promise<EditResult<ReplacementResult>> {
    commitEdit(this.#room, writer, added)
    return { ...(await waitUntilDurable(this.#room, change)), bytes: added?.length ?? 0 }
  }
}

const isSame = (a: Version, b: Version): boolean => a.epoch === b.epoch && a.seq === b.seq
