import type { Change } from '../content/change.ts'
import type { PreparedContent } from '../content/prepared.ts'
import { type CheckedContent, checkContent } from '../content/replace.ts'
import { ApiError } from '../errors.ts'
import { parseVersion, type Version } from '../model/version.ts'
import {
  begin,
  type Changed,
  commit,
  type EditedRoom,
  type Expectation,
  presentVersion,
  refusedWhenDurable,
  settled,
} from './edited-room.ts'
import { replaceIn } from './replacement.ts'
import { noUpdate, RoomState } from './state.ts'
import type { Thread } from './threads/pool.ts'
import { documentAt, updatesAt } from './versions.ts'

export interface ReplaceOptions extends Expectation {
  /** Make the change to the document as it was at this version, and merge it: what came since stays. */
  readonly baseVersion?: string | undefined
  /** Only find out what would change. */
  readonly dryRun?: boolean | undefined
}

/**
 * Document and content together, in bytes and characters, up to which a replacement is computed on the event loop: what
 * is larger could hold it for more than 50 ms, at 50 KB of text that have nothing in common with what they replace.
 */
export const inlineSizeMax = 65_536

/** A difference, computed on a copy and not yet merged. */
interface Computed {
  readonly change: Change
  readonly update: Uint8Array | null
  /** The whole document after it, if that is known. */
  readonly state: Uint8Array | null
  /** Was it computed for the document as it is now, or for what it was once? */
  readonly for: 'present' | 'past'
  /** Is the document still what the difference was computed for? @throws ApiError as `begin` does */
  readonly stillFits: () => boolean
}

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
      return refusedWhenDurable(room, this.#offload(by, content, options))
    }
    const checked = content.checked ?? checkContent(content.target)
    return refusedWhenDurable(room, this.#inline(by, checked, options))
  }

  async #inline(by: string, content: CheckedContent, options: ReplaceOptions): Promise<Changed<Change>> {
    const room = this.#room
    const past = await this.#past(options)
    room.replaced('loop')
    if (past === null && options.dryRun !== true) {
      const { state, documentBytesMax } = room
      const write = (): Change => replaceIn(state, content, documentBytesMax)
      const { result, added } = this.#applied(() => state.edit(write))
      return this.#committed(by, result, added)
    }
    const copy = past ?? RoomState.fromBytes(room.state.encode())
    copy.writeAs(room.state.mergeAs)
    const sizeMax = this.#sizeMax(copy.sizeBytes)
    const { result, added } = copy.edit(() => replaceIn(copy, content, sizeMax))
    copy.doc.destroy()
    return this.#merged(by, { change: result, update: added, state: null, for: 'past' }, options)
  }

  /**
   * Computes the change on a thread. When the document has moved on meanwhile, once more, and this time what arrives
   * waits: other documents are never held up, and this one for no longer than it takes.
   */
  #offload(by: string, content: PreparedContent, options: ReplaceOptions): Promise<Changed<Change>> {
    const room = this.#room
    return room.threads.use(async (thread) => {
      const first = await this.#computed(thread, content, options)
      if (options.dryRun === true || (room.held() === null && first.stillFits())) {
        room.replaced('thread')
        return this.#merged(by, first, options)
      }
      while (room.held() !== null) await room.held()
      const release = room.hold()
      try {
        const second = await this.#computed(thread, content, options)
        if (!second.stillFits()) throw new ApiError('ABORTED', 'the document has moved on; try again')
        room.replaced('held')
        return await this.#merged(by, second, options)
      } finally {
        release()
      }
    })
  }

  async #computed(thread: Thread, content: PreparedContent, options: ReplaceOptions): Promise<Computed> {
    const { state, documentBytesMax } = this.#room
    const { target, checked } = content
    try {
      begin(this.#room, options)
    } catch (error) {
      // What is wrong with the content is said first.
      const writer = state.mergeAs
      if (checked === null) await thread.run({ target, updates: null, writer, documentBytesMax })
      throw error
    }
    const base = this.#base(options)
    const version = base ?? presentVersion(this.#room)
    const atHand = base === null ? state.bytes : null
    const updates = atHand === null ? await this.#updatesAt(version) : [atHand]
    if (updates === null) throw base === null ? gone() : tooOld()
    const sizeMax = this.#sizeMax(updates.reduce((sum, { length }) => sum + length, 0))
    const outcome = await thread.run({ target, updates, writer: state.mergeAs, documentBytesMax: sizeMax })
    if (outcome.is !== 'replaced') throw new Error('a job with updates was only checked')
    const stillFits = (): boolean => {
      begin(this.#room, options)
      const { client, clock } = outcome.writer
      const isOwn = (state.clocks.get(client) ?? 0) === clock
      return isOwn && (base !== null || isSame(version, presentVersion(this.#room)))
    }
    return { ...outcome, for: base === null ? 'present' : 'past', stillFits }
  }

  /** The document at `baseVersion`; null when the change is to be made to what it is now. From here on, nothing else may happen. */
  async #past(options: ReplaceOptions): Promise<RoomState | null> {
    const room = this.#room
    while (room.held() !== null) await room.held()
    begin(room, options)
    const base = this.#base(options)
    if (base === null) return null
    const past = await documentAt(room.log, room.doc, base)
    if (past === null) throw tooOld()
    while (room.held() !== null) await room.held()
    begin(room, options)
    return past
  }

  async #updatesAt(version: Version): Promise<readonly Uint8Array[] | null> {
    const { commits, log, doc } = this.#room
    if (commits.existence !== 'live') return [noUpdate]
    await settled(this.#room, null)
    return updatesAt(log, doc, version)
  }

  /** Null when the change is to be made to the document as it is: also where that is the base. */
  #base({ baseVersion }: ReplaceOptions): Version | null {
    if (baseVersion === undefined) return null
    const base = parseVersion(baseVersion)
    const present = presentVersion(this.#room)
    const isLive = this.#room.commits.existence === 'live'
    if (base === null || !isLive || base.epoch !== present.epoch) throw tooOld()
    return base.seq === present.seq ? null : base
  }

  /** The size that a copy of the document may reach: what came since the version it is a copy of takes room too. */
  #sizeMax(copyBytes: number): number {
    const { state, documentBytesMax } = this.#room
    return documentBytesMax - Math.max(0, state.sizeBytes - copyBytes)
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

  async #merged(
    by: string,
    { change, update, state: after, for: made }: Omit<Computed, 'stillFits'>,
    { dryRun = false }: ReplaceOptions,
  ): Promise<Changed<Change>> {
    const { state } = this.#room
    if (dryRun) return { ...(await settled(this.#room, change)), bytes: update?.length ?? 0 }
    if (update === null || made === 'past') {
      const added = update && this.#applied(() => state.integrate(update).added)
      return this.#committed(by, change, added)
    }
    if (after === null) this.#applied(() => state.applyPlain([{ bytes: update }]))
    else state.become(after)
    return this.#committed(by, change, update)
  }

  async #committed(by: string, change: Change, added: Uint8Array | null): Promise<Changed<Change>> {
    commit(this.#room, by, added)
    return { ...(await settled(this.#room, change)), bytes: added?.length ?? 0 }
  }
}

const isSame = (a: Version, b: Version): boolean => a.epoch === b.epoch && a.seq === b.seq

const tooOld = (): ApiError =>
  new ApiError('FAILED_PRECONDITION', 'baseVersion is unknown or too old: read the document again')

const gone = (): ApiError => new ApiError('UNAVAILABLE', 'The document was deleted or made anew; try again')
