import type { Change } from '../content/change.ts'
import type { PreparedContent } from '../content/prepared.ts'
import { type CheckedContent, checkContent, checkKind } from '../content/replace.ts'
import { ApiError } from '../errors.ts'
import type { Version } from '../model/version.ts'
import { agree, movedOn, type Proposal } from './agreeing.ts'
import { baseOf, sizeMaxOf, tooOld } from './base-version.ts'
import {
  begin,
  type Changed,
  commit,
  type EditedRoom,
  makeWay,
  presentVersion,
  type ReplaceOptions,
  type RestoreOptions,
  refusedWhenDurable,
  settled,
} from './edited-room.ts'
import { type Computed, computeOnThread, restoreOnThread } from './offloading.ts'
import { replaceIn, restoreIn } from './replacement.ts'
import { RoomState } from './state.ts'
import type { Thread } from './threads/pool.ts'
import { documentAt } from './versions.ts'

/**
 * Document and content together, in bytes and characters, up to which a replacement is computed on the event loop: what
 * is larger could hold it for more than 50 ms, at 50 KB of text that have nothing in common with what they replace.
 */
export const inlineSizeMax = 65_536

/** Replaces the content of one open document: small things at once, large ones on a thread. */
export class Replacing {
  readonly #room: EditedRoom

  constructor(room: EditedRoom) {
    this.#room = room
  }

  /**
   * Makes a root of the document equal to the content, as user `by`; resolves when that is durable and sent.
   * @throws ApiError INVALID_ARGUMENT as `checkContent` does; NOT_FOUND, ALREADY_EXISTS, ABORTED, FAILED_PRECONDITION
   *   when the document is not what `options` expect; RESOURCE_EXHAUSTED when too many large contents wait;
   *   UNAVAILABLE when the store is away
   */
  replace(by: string, content: PreparedContent, options: ReplaceOptions): Promise<Changed<Change>> {
    const room = this.#room
    const isLarge = content.checked === null || content.size + room.state.sizeBytes > inlineSizeMax
    if (isLarge && room.threads.enabled) {
      const compute = (thread: Thread): Promise<Computed> => computeOnThread(room, thread, content, options)
      return refusedWhenDurable(room, () => this.#offload(by, compute, options))
    }
    const checked = content.checked ?? checkContent(content.target)
    return refusedWhenDurable(room, () => this.#inline(by, checked, options))
  }

  /**
   * Gives the document the content of `past`, a whole state (V1) of it, as user `by`; resolves when that is durable and
   * sent. What others do meanwhile is a change of the document as it is then: it stays.
   * @throws ApiError as `replace` does
   */
  restore(by: string, past: Uint8Array, options: RestoreOptions): Promise<Changed<Change>> {
    const room = this.#room
    const isLarge = past.length + room.state.sizeBytes > inlineSizeMax
    const compute = (thread: Thread): Promise<Computed> => restoreOnThread(room, thread, past, options)
    return refusedWhenDurable(room, () =>
      isLarge && room.threads.enabled
        ? this.#offload(by, compute, options)
        : this.#restoreInline(by, past, options),
    )
  }

  async #restoreInline(by: string, past: Uint8Array, options: RestoreOptions): Promise<Changed<Change>> {
    const room = this.#room
    const compute = (): Computed => {
      begin(room, options)
      const copy = RoomState.fromBytes(room.state.encode())
      const made = { for: 'present', version: presentVersion(room) } as const
      return this.#onCopy(copy, made, () => restoreIn(copy, past, room.documentBytesMax))
    }
    await this.#prepare(options)
    room.replaced('loop')
    if (room.others !== null) return this.#agreed(by, async () => compute(), options)
    while (room.held() !== null) await room.held()
    return this.#merged(by, compute(), options)
  }

  /** Where other nodes write to the document too. */
  #agreed(
    by: string,
    compute: () => Promise<Computed>,
    { dryRun }: RestoreOptions,
  ): Promise<Changed<Change>> {
    return agree(this.#room, { by, dryRun }, async () => this.#proposal(await compute()))
  }

  #proposal({ change, update, state: after, made, writer }: Computed): Proposal<Change> {
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
  async #proposed(content: CheckedContent, options: ReplaceOptions): Promise<Computed> {
    const room = this.#room
    const past = await this.#past(options)
    begin(room, options)
    if (past === null && baseOf(room, options) !== null) return this.#proposed(content, options)
    const version = presentVersion(room)
    const copy = past ?? RoomState.fromBytes(room.state.encode())
    const sizeMax = past === null ? room.documentBytesMax : sizeMaxOf(room, copy.sizeBytes)
    const made = past === null ? ({ for: 'present', version } as const) : ({ for: 'past', content } as const)
    return this.#onCopy(copy, made, () => replaceIn(copy, content, sizeMax))
  }

  async #inline(by: string, content: CheckedContent, options: ReplaceOptions): Promise<Changed<Change>> {
    const room = this.#room
    await this.#prepare(options)
    if (room.others !== null) {
      room.replaced('loop')
      return this.#agreed(by, () => this.#proposed(content, options), options)
    }
    const past = await this.#past(options)
    while (room.held() !== null) await room.held()
    // From here to the commit nothing is awaited: whoever else waited for the same finds out what has become of it.
    begin(room, options)
    if (past === null && baseOf(room, options) !== null) return this.#inline(by, content, options)
    room.replaced('loop')
    const { state, documentBytesMax } = room
    if (past !== null || options.dryRun === true) {
      const copy = past ?? RoomState.fromBytes(state.encode())
      const sizeMax = sizeMaxOf(room, copy.sizeBytes)
      const computed = this.#onCopy(copy, { for: 'past', content }, () => replaceIn(copy, content, sizeMax))
      return this.#merged(by, computed, options)
    }
    const write = (): Change => replaceIn(state, content, documentBytesMax)
    const { result, added } = this.#applied(() => state.edit(write))
    return this.#committed(by, result, added)
  }

  /** Makes the change to a copy of the document, of now or of then. */
  #onCopy(copy: RoomState, made: Computed['made'], work: () => Change): Computed {
    const writer = copy.writeAs(this.#room.state.mergers)
    const { result, added } = copy.edit(work)
    copy.doc.destroy()
    return { writer, change: result, update: added, state: null, made }
  }

  /**
   * Computes the change on a thread. When the document has moved on meanwhile, once more, and this time what arrives
   * waits: other documents are never held up, and this one for no longer than it takes. The thread is given back before
   * the disk is waited for.
   */
  async #offload(
    by: string,
    computeOn: (thread: Thread) => Promise<Computed>,
    options: RestoreOptions,
  ): Promise<Changed<Change>> {
    const room = this.#room
    const { answer } = await room.threads.use(async (thread) => {
      const compute = async (): Promise<Computed> => {
        const computed = await computeOn(thread)
        await this.#prepare(options)
        return computed
      }
      let first: Computed | null = await compute()
      if (room.others !== null) {
        room.replaced('thread')
        const next = async (): Promise<Computed> => {
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
        if (!this.#stillFits(second, options)) throw movedOn()
        room.replaced('held')
        return { answer: this.#merged(by, second, options) }
      } finally {
        release()
      }
    })
    return answer
  }

  async #prepare(options: RestoreOptions): Promise<void> {
    if (options.dryRun !== true) await makeWay(this.#room, options)
  }

  /** Is the document still what the difference was computed for? @throws ApiError as `begin` does */
  #stillFits({ writer, made }: Computed, options: RestoreOptions): boolean {
    const room = this.#room
    begin(room, options)
    if ((room.state.clocks.get(writer.client) ?? 0) !== writer.clock) return false
    return made.for === 'past' || isSame(made.version, presentVersion(room))
  }

  /** The document at `baseVersion`; null when that is what it is now. @throws ApiError as `begin` does */
  async #past(options: ReplaceOptions): Promise<RoomState | null> {
    const room = this.#room
    begin(room, options)
    const base = baseOf(room, options)
    if (base === null) return null
    const past = await documentAt(room.log, room.doc, base)
    if (past === null) throw tooOld()
    return past
  }

  /** Brings what was computed into the document, at once. */
  async #merged(
    by: string,
    { change, update, state: after, made, writer }: Computed,
    { dryRun = false }: RestoreOptions,
  ): Promise<Changed<Change>> {
    const { state } = this.#room
    if (dryRun) return { ...(await settled(this.#room, change)), bytes: update?.length ?? 0 }
    if (update === null) return this.#committed(by, change, null)
    state.keepMerger(writer.client)
    if (after !== null) state.become(after)
    else if (made.for === 'present') this.#applied(() => state.applyPlain([{ bytes: update }]))
    else {
      // Since then an empty root may have become something.
      checkKind(state.doc, made.content.target, made.content.kind)
      return this.#committed(
        by,
        change,
        this.#applied(() => state.integrate(update).added),
      )
    }
    return this.#committed(by, change, update)
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

  async #committed(by: string, change: Change, added: Uint8Array | null): Promise<Changed<Change>> {
    commit(this.#room, by, added)
    return { ...(await settled(this.#room, change)), bytes: added?.length ?? 0 }
  }
}

const isSame = (a: Version, b: Version): boolean => a.epoch === b.epoch && a.seq === b.seq
