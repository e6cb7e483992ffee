import type * as Y from 'yjs'
import { type ReadContent, type Reading, readWhole } from '../content/reading.ts'
import { ApiError, invalid } from '../errors.ts'
import { limitDetails } from '../quota/limits.ts'
import { checkEntries } from '../update/entries.ts'
import { MalformedUpdate } from '../update/malformed.ts'
import { checkNesting } from '../update/nesting.ts'
import { readUpdate } from '../update/read.ts'
import { isPlain, type UpdateSummary } from '../update/summary.ts'
import { agree, type Proposal } from './agreeing.ts'
import {
  begin,
  type Changed,
  commit,
  type EditedRoom,
  type Expectation,
  hasCaughtUp,
  makeWay,
  refusedWhenDurable,
  seenBy,
  settled,
} from './edited-room.ts'
import { isReadInline, readOnThread } from './reading.ts'
import { RoomState } from './state.ts'

export interface ApplyOptions extends Expectation {
  readonly allowSubdocuments: boolean
}

export interface Viewed<T> {
  readonly result: T
  readonly version: string
  readonly vector: Uint8Array
  readonly changed: { readonly at: number; readonly by: string }
  readonly sizeBytes: number
}

/** A document at some time. */
export interface Captured {
  /** The whole state (V1). */
  readonly bytes: Uint8Array
  readonly version: string
  readonly epoch: number
}

/** Reads one open document and applies updates to it for callers that have no socket; answers only what is durable. */
export class Editing {
  readonly #room: EditedRoom

  constructor(room: EditedRoom) {
    this.#room = room
  }

  /**
   * Takes a Yjs update (V1) as it is; resolves when it is durable and sent, with the state vector then. What is
   * known already is left out.
   * @throws ApiError as `begin` does; INVALID_ARGUMENT when it is malformed, FAILED_PRECONDITION when it builds on
   *   updates that the document does not have: then nothing is changed
   */
  async apply(by: string, bytes: Uint8Array, options: ApplyOptions): Promise<Changed<Uint8Array>> {
    const room = this.#room
    const summary = vetted(() => readUpdate(bytes, options))
    if (room.others === null) return this.#apply(by, bytes, summary, options)
    return refusedWhenDurable(room, () => this.#apply(by, bytes, summary, options))
  }

  async #apply(
    by: string,
    bytes: Uint8Array,
    summary: UpdateSummary,
    options: ApplyOptions,
  ): Promise<Changed<Uint8Array>> {
    const room = this.#room
    await makeWay(room, options)
    const isExact = options.ifVersion !== undefined || options.expects === 'nothing'
    if (room.others !== null && isExact) {
      const changed = await agree(room, { by }, async () => this.#proposal(bytes, summary, options))
      return { ...changed, result: room.state.vector() }
    }
    while (room.held() !== null) await room.held()
    this.#check(bytes, summary, options)
    const { added } = room.state.integrate(bytes)
    commit(room, by, added)
    return { ...(await settled(room, room.state.vector())), bytes: added?.length ?? 0 }
  }

  #proposal(bytes: Uint8Array, summary: UpdateSummary, options: ApplyOptions): Proposal<null> {
    this.#check(bytes, summary, options)
    const { state, commits } = this.#room
    const update = state.contains(bytes, summary) ? null : bytes
    return { result: null, head: commits.head, update, apply: () => void state.integrate(bytes) }
  }

  /** @throws ApiError when it must not be taken */
  #check(bytes: Uint8Array, summary: UpdateSummary, options: ApplyOptions): void {
    const { state, documentBytesMax } = this.#room
    begin(this.#room, options)
    if (!state.hasRoomFor(bytes.length, documentBytesMax)) {
      throw invalid(
        `a document has at most ${documentBytesMax} bytes`,
        limitDetails('maxDocumentBytes', documentBytesMax),
      )
    }
    this.#rehearse(bytes, summary)
  }

  /** Shows the document, and its whole state (V1), to `view`; resolves when what it saw is durable. @throws ApiError UNAVAILABLE */
  async view<T>(view: (doc: Y.Doc, bytes: Uint8Array) => T): Promise<Viewed<T>> {
    const { state, commits } = this.#room
    const { result, version } = await seenBy(this.#room, () => {
      const bytes = state.encode()
      const seen = view(state.doc, bytes)
      return { result: seen, changed: commits.changed, vector: state.vector(), sizeBytes: bytes.length }
    })
    return { ...result, version }
  }

  /**
   * One root of the document, a large one on a thread; resolves when that is durable, null when there is no document.
   * @throws ApiError INVALID_ARGUMENT as `readDocument` does; RESOURCE_EXHAUSTED when too many large ones wait; UNAVAILABLE
   */
  async read(reading: Reading): Promise<Viewed<ReadContent> | null> {
    const { state, commits, readers } = this.#room
    this.#room.begin()
    if (commits.existence !== 'live') await hasCaughtUp(this.#room)
    if (commits.existence !== 'live') return (await settled(this.#room, null)).result
    if (isReadInline(readers, state.sizeBytes))
      return this.view((doc, bytes) => readWhole(doc, bytes, reading))
    const {
      result: { bytes: whole, ...seen },
      version,
    } = await seenBy(this.#room, () => {
      const bytes = state.encode()
      return { bytes, changed: commits.changed, vector: state.vector(), sizeBytes: bytes.length }
    })
    return { ...seen, version, result: await readOnThread(readers, whole, reading) }
  }

  /** The document as it is; resolves when that is durable, null when there is none. @throws ApiError UNAVAILABLE */
  async capture(): Promise<Captured | null> {
    const { state, commits } = this.#room
    const { result, version } = await seenBy(this.#room, () =>
      commits.existence === 'live' ? state.encode() : null,
    )
    return result === null ? null : { bytes: result, epoch: commits.epoch, version }
  }

  /** Which state the document is in; resolves when that is durable, null when there is no document. @throws ApiError UNAVAILABLE */
  async version(): Promise<string | null> {
    const { commits } = this.#room
    const { result: isLive, version } = await seenBy(this.#room, () => commits.existence === 'live')
    return isLive ? version : null
  }

  /** Applies an update to a copy first: what is wrong with it must not be found out on the document. */
  #rehearse(bytes: Uint8Array, summary: UpdateSummary): void {
    const { state } = this.#room
    vetted(() => checkNesting(bytes, state.doc))
    if (isPlain(summary, state.clocks) && summary.longRuns.length === 0) return
    const copy = RoomState.fromBytes(state.encode())
    if (copy.integrate(bytes).gap) {
      throw new ApiError(
        'FAILED_PRECONDITION',
        'the update builds on updates that the document does not have',
      )
    }
    vetted(() => checkEntries(summary, copy.doc))
    copy.doc.destroy()
  }
}

/** @throws ApiError INVALID_ARGUMENT where vetting refuses */
function vetted<T>(check: () => T): T {
  try {
    return check()
  } catch (error) {
    if (error instanceof MalformedUpdate) throw invalid(`the update is malformed: ${error.message}`)
    throw error
  }
}
