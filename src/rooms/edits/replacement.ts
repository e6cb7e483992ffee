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
import { commitIfUnchanged, type ProposedChange } from './commit-if-unchanged.ts'
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
 * Maximum size of document and content together, in bytes and characters, for a replacement on the event loop. A larger
 * one could block the event loop for more than 50 ms, at 50 KB of text that has nothing in common with the text before.
 */
export const inlineSizeMax = 65_536

/** Replaces the content of one open document: small things at once, large ones on a thread. */
export class Replacement {
  readonly #room: EditContext

  constructor(room: EditContext) {
    this.#room = room
  }

  /**
   * Makes a root of the document equal to the content, as user `by`. Resolves when the change is durable and sent.
   * @throws ApiError INVALID_ARGUMENT as `checkContent` does; NOT_FOUND, ALREADY_EXISTS, ABORTED, FAILED_PRECONDITION
   *   if the document does not match `options`; RESOURCE_EXHAUSTED if too many large contents wait; UNAVAILABLE while
   *   the store cannot write
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
        rejectWhenDurable(room, () => this.#onThread(by, compute, options)),
      )
    }
    const checked = content.checked ?? checkContent(content.target)
    return whileAllowed(options.right, () =>
      rejectWhenDurable(room, () => this.#replaceOnLoop(by, checked, options)),
    )
  }

  /**
   * Gives the document the content of `past`, a whole state (V1) of it, as user `by`; resolves when that is durable and
   * sent. Updates that arrive meanwhile stay: they change the document as it is then.
   * @throws ApiError as `replace` does
   */
  restore(by: string, past: Uint8Array, options: RestoreOptions): Promise<EditResult<ReplacementResult>> {
    const room = this.#room
    const isLarge = room.state.isExpensive || past.length + room.state.sizeBytes > inlineSizeMax
    const restore = (): Promise<EditResult<ReplacementResult>> =>
      isLarge && room.threads.enabled
        ? this.#onThread(by, (thread) => restoreOnThread(room, thread, past, options), options)
        : this.#onLoop(by, async () => this.#restored(past, options), options)
    return whileAllowed(options.right, () => rejectWhenDurable(room, restore))
  }

  async #replaceOnLoop(
    by: string,
    content: CheckedContent,
    options: ReplaceOptions,
  ): Promise<EditResult<ReplacementResult>> {
    const room = this.#room
    const { state, documentBytesMax, commits } = room
    const isFull = (options.full ?? null) !== null
    const needsCopy = options.dryRun === true || isFull || options.baseVersion !== undefined
    if (needsCopy || !commits.hasOneWriter)
      return this.#onLoop(by, () => this.#replaced(content, options), options)
    // Only this node appends: the document itself is edited, which takes half as long as a copy does.
    await this.#prepare(options)
    while (room.held() !== null) await room.held()
    // From here to the commit nothing is awaited: callers that waited for the same find the changed document.
    beginEdit(room, options)
    room.replaced('inline')
    const write = (): ReplacementResult => replaceWithinLimit(state, content, documentBytesMax)
    const { result, added } = this.#applied(() => state.edit(write))
    return this.#committed({ by, right: options.right }, result, added)
  }

  /** Replaces the content of a copy of the document, of its base version if there is one. */
  async #replaced(content: CheckedContent, options: ReplaceOptions): Promise<ComputedEdit> {
    const room = this.#room
    const past = await this.#past(options)
    beginEdit(room, options)
    if (past === null && resolveBase(room, options) !== null) return this.#replaced(content, options)
    const version = presentVersion(room)
    const copy = past ?? DocumentState.fromBytes(room.state.encode())
    const sizeMax = past === null ? room.documentBytesMax : copySizeMax(room, copy.sizeBytes)
    const made = past === null ? ({ for: 'present', version } as const) : ({ for: 'past', content } as const)
    return this.#onCopy(copy, made, () => replaceWithinLimit(copy, content, sizeMax))
  }

  #restored(past: Uint8Array, options: RestoreOptions): ComputedEdit {
    const room = this.#room
    beginEdit(room, options)
    const copy = DocumentState.fromBytes(room.state.encode())
    const made = { for: 'present', version: presentVersion(room) } as const
    return this.#onCopy(copy, made, () => restoreWithinLimit(copy, past, room.documentBytesMax))
  }

  /** Makes the change to a copy of the document, of now or of then. */
  #onCopy(copy: DocumentState, made: ComputedEdit['made'], work: () => ReplacementResult): ComputedEdit {
    const writer = copy.writeAs(this.#room.state.mergers)
    const { result, added } = copy.edit(work)
    copy.doc.destroy()
    return { writer, change: result, update: added, state: null, made: madeFor(made, result) }
  }

  async #onLoop(
    by: string,
    compute: () => Promise<ComputedEdit>,
    options: RestoreOptions,
  ): Promise<EditResult<ReplacementResult>> {
    await this.#prepare(options)
    return (await this.#change(by, 'inline', compute, options)).answer
  }

  /** Other documents are never held up. The thread is released before the disk is waited for, if nothing has to be repeated. */
  async #onThread(
    by: string,
    computeOn: (thread: PooledThread) => Promise<ComputedEdit>,
    options: RestoreOptions,
  ): Promise<EditResult<ReplacementResult>> {
    const { threads, address } = this.#room
    // Only the computation uses a thread. A change that waits for the write lock of a room must not occupy one, because
    // the holder of the lock may wait for a thread.
    const compute = async (): Promise<ComputedEdit> => {
      const computed = await threads.use(address, computeOn)
      await this.#prepare(options)
      return computed
    }
    const { answer } = await this.#change(by, 'thread', compute, options)
    return answer
  }

  /**
   * The one retry policy: a change is computed while writes go on. If the document is another one by then, it is computed
   * again while writes are paused at this node, and from the next try on at the other nodes.
   */
  async #change(
    by: string,
    mode: 'inline' | 'thread',
    compute: () => Promise<ComputedEdit>,
    options: RestoreOptions,
  ): Promise<{ readonly answer: Promise<EditResult<ReplacementResult>> }> {
    const room = this.#room
    const { dryRun, right } = options
    let first: ComputedEdit | null = null
    if (room.commits.hasOneWriter) {
      first = await compute()
      if (dryRun === true || (room.held() === null && this.#stillFits(first, options))) {
        room.replaced(mode)
        return { answer: this.#merged(by, first, options) }
      }
    } else if (mode === 'thread') first = await compute()
    let isCounted = false
    const answer = await commitIfUnchanged(room, { by, dryRun, right }, async () => {
      const computed = first !== null && this.#stillFits(first, options) ? first : await compute()
      if (!isCounted) room.replaced(mode === 'thread' && computed !== first ? 'thread_locked' : mode)
      isCounted = true
      first = null
      checkStorage(options, computed.update)
      return this.#proposal(computed)
    })
    return { answer: Promise.resolve(answer) }
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

  async #prepare(options: ReplaceOptions): Promise<void> {
    if (options.dryRun === true) return
    if (isCreating(this.#room, options)) resolveBase(this.#room, options)
    await prepareCreate(this.#room, options)
  }

  /** Returns whether the document still matches the computed difference. @throws ApiError as `beginEdit` does */
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
