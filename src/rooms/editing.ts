import type * as Y from 'yjs'
import type { Content } from '../content/read.ts'
import { type Reading, readDocument } from '../content/reading.ts'
import { ApiError, invalid } from '../errors.ts'
import { limitDetails } from '../quota/limits.ts'
import { checkEntries } from '../update/entries.ts'
import { MalformedUpdate } from '../update/malformed.ts'
import { checkNesting } from '../update/nesting.ts'
import { readUpdate } from '../update/read.ts'
import { isPlain, type UpdateSummary } from '../update/summary.ts'
import {
  begin,
  type Changed,
  commit,
  type EditedRoom,
  type Expectation,
  makeWay,
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
    const { state, documentBytesMax } = room
    const summary = vetted(() => readUpdate(bytes, options))
    await makeWay(room, options)
    while (room.held() !== null) await room.held()
    begin(room, options)
    if (!state.hasRoomFor(bytes.length, documentBytesMax)) {
      throw invalid(
        `a document has at most ${documentBytesMax} bytes`,
        limitDetails('maxDocumentBytes', documentBytesMax),
      )
    }
    this.#rehearse(bytes, summary)
    const { added } = state.integrate(bytes)
    commit(room, by, added)
    return { ...(await settled(room, state.vector())), bytes: added?.length ?? 0 }
  }

  /** Shows the document to `view`; resolves when what it saw is durable. @throws ApiError UNAVAILABLE */
  async view<T>(view: (doc: Y.Doc) => T): Promise<Viewed<T>> {
    const { state, commits } = this.#room
    this.#room.begin()
    const result = view(state.doc)
    const seen = { changed: commits.changed, vector: state.vector(), sizeBytes: state.encode().length }
    return { ...seen, ...(await settled(this.#room, result)) }
  }

  /**
   * One root of the document, a large one on a thread; resolves when that is durable, null when there is no document.
   * @throws ApiError INVALID_ARGUMENT as `readDocument` does; RESOURCE_EXHAUSTED when too many large ones wait; UNAVAILABLE
   */
  async read(reading: Reading): Promise<Viewed<Content> | null> {
    const { state, commits, readers } = this.#room
    this.#room.begin()
    if (commits.existence !== 'live') return (await settled(this.#room, null)).result
    if (isReadInline(readers, state.sizeBytes)) return this.view((doc) => readDocument(doc, reading))
    const bytes = state.encode()
    const seen = { changed: commits.changed, vector: state.vector(), sizeBytes: bytes.length }
    const { version } = await settled(this.#room, null)
    return { ...seen, version, result: await readOnThread(readers, bytes, reading) }
  }

  /** The document as it is; resolves when that is durable, null when there is none. @throws ApiError UNAVAILABLE */
  async capture(): Promise<Captured | null> {
    const { state, commits } = this.#room
    this.#room.begin()
    if (commits.existence !== 'live') return (await settled(this.#room, null)).result
    const { epoch } = commits
    const { result, version } = await settled(this.#room, state.encode())
    return { bytes: result, epoch, version }
  }

  /** Which state the document is in; resolves when that is durable, null when there is no document. @throws ApiError UNAVAILABLE */
  async version(): Promise<string | null> {
    const { commits } = this.#room
    this.#room.begin()
    const isLive = commits.existence === 'live'
    const { version } = await settled(this.#room, null)
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
