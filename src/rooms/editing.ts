import type * as Y from 'yjs'
import type { DocumentLog, Health, Key } from '../engine/engine.ts'
import { ApiError, invalid } from '../errors.ts'
import { checkEntries } from '../update/entries.ts'
import { MalformedUpdate } from '../update/malformed.ts'
import { checkNesting } from '../update/nesting.ts'
import { readUpdate } from '../update/read.ts'
import { isPlain, type UpdateSummary } from '../update/summary.ts'
import { type CommitLine, parseVersion, versionOf } from './commits.ts'
import type { RoomUpdate } from './delivery.ts'
import { captureUpdate, RoomState } from './state.ts'
import { documentAt } from './versions.ts'

/** Changes a document in one transaction; throws ApiError before the first change, or not at all. */
export type Edit<T> = (doc: Y.Doc) => T

export interface ChangeOptions {
  /** May the change make the document? */
  readonly create: boolean
  /** Make the change to the document as it was at this version, and merge it: what came since stays. */
  readonly baseVersion?: string | undefined
  /** Refuse unless the document is at this version. */
  readonly ifVersion?: string | undefined
}

export interface ApplyOptions extends ChangeOptions {
  readonly allowSubdocuments: boolean
  readonly documentBytesMax: number
}

export interface Changed<T> {
  readonly result: T
  /** The document's version after the change. */
  readonly version: string
  /** Size of the update that clients received; 0 when nothing changed. */
  readonly bytes: number
}

export interface Viewed<T> {
  readonly result: T
  readonly version: string
  readonly vector: Uint8Array
  readonly changed: { readonly at: number; readonly by: string }
  readonly sizeBytes: number
}

/** What a room gives to its editing. */
export interface EditedRoom {
  readonly log: DocumentLog
  readonly doc: Key
  readonly state: RoomState
  readonly commits: CommitLine
  /** Can the store write? */
  readonly health: () => Health
  /** Applies what has arrived. @throws ApiError UNAVAILABLE when the room is closed */
  readonly begin: () => void
  readonly commit: (update: RoomUpdate) => Promise<unknown>
  /** The document in memory can't be trusted any more. */
  readonly fail: (error: unknown) => void
}

/** A Yjs update (V1) without structs and deletions. */
const emptyUpdate = new Uint8Array(2)

/** Reads and changes one open document for callers that have no socket; answers only what is durable. */
export class Editing {
  readonly #room: EditedRoom

  constructor(room: EditedRoom) {
    this.#room = room
  }

  /**
   * Lets `edit` change the document as user `by`; resolves when the change is durable and sent.
   * @throws ApiError NOT_FOUND when the document has no content and `create` is false, ABORTED when it is not at
   *   `ifVersion`, FAILED_PRECONDITION when `baseVersion` can't be rebuilt, UNAVAILABLE when the store is away
   */
  async change<T>(by: string, edit: Edit<T>, options: ChangeOptions): Promise<Changed<T>> {
    const past = await this.#past(options)
    this.#begin(options)
    const { result, added } = past === null ? this.#edit(edit) : this.#merge(past, edit)
    this.#commit(by, added)
    return { ...(await this.#settled(result)), bytes: added?.length ?? 0 }
  }

  /** What `change` would do, done to a copy: nothing is stored or sent. @throws ApiError like `change` */
  async preview<T>(edit: Edit<T>, options: ChangeOptions): Promise<Changed<T>> {
    const past = await this.#past(options)
    this.#begin(options)
    const copy = past ?? RoomState.fromBytes(this.#room.state.encode()).doc
    const { result, added } = captureUpdate(copy, (doc) => doc.transact(() => edit(doc)))
    copy.destroy()
    return { ...(await this.#settled(result)), bytes: added?.length ?? 0 }
  }

  /**
   * Takes a Yjs update (V1) as it is; resolves when it is durable and sent, with the state vector then. What is
   * known already is left out.
   * @throws ApiError like `change`; INVALID_ARGUMENT when it is malformed, FAILED_PRECONDITION when it builds on
   *   updates that the document does not have: then nothing is changed
   */
  async apply(by: string, bytes: Uint8Array, vetting: ApplyOptions): Promise<Changed<Uint8Array>> {
    const summary = vetted(() => readUpdate(bytes, vetting))
    this.#begin(vetting)
    const { state } = this.#room
    if (!state.hasRoomFor(bytes.length, vetting.documentBytesMax)) {
      throw invalid(`a document has at most ${vetting.documentBytesMax} bytes`)
    }
    this.#rehearse(bytes, summary)
    const { added } = state.integrate(bytes)
    this.#commit(by, added)
    return { ...(await this.#settled(state.vector())), bytes: added?.length ?? 0 }
  }

  /** Shows the document to `view`; resolves when what it saw is durable. @throws ApiError UNAVAILABLE */
  async view<T>(view: (doc: Y.Doc) => T): Promise<Viewed<T>> {
    const { begin, state, commits } = this.#room
    begin()
    const result = view(state.doc)
    const seen = { changed: commits.changed, vector: state.vector(), sizeBytes: state.encode().length }
    return { ...seen, ...(await this.#settled(result)) }
  }

  /** From here to the change nothing else may happen to the document. */
  #begin({ create, ifVersion }: ChangeOptions): void {
    const { begin, commits, health } = this.#room
    const store = health()
    if (!store.ok) throw new ApiError('UNAVAILABLE', `The store is away: ${store.reason}`)
    begin()
    if (commits.existence !== 'live' && !create) throw new ApiError('NOT_FOUND', 'No such document')
    const version = versionOf(commits.epoch, commits.head)
    if (ifVersion !== undefined && ifVersion !== version) {
      throw new ApiError('ABORTED', 'the document has moved on from ifVersion', { details: { version } })
    }
  }

  /** The document as it was at `baseVersion`; null when the change is to be made to what it is now. */
  async #past({ baseVersion }: ChangeOptions): Promise<Y.Doc | null> {
    if (baseVersion === undefined) return null
    const { log, doc, commits } = this.#room
    const version = parseVersion(baseVersion)
    const past =
      version === null || version.epoch !== commits.epoch
        ? null
        : await documentAt(log, doc, version.epoch, version.seq)
    if (past !== null) return past
    throw new ApiError('FAILED_PRECONDITION', 'baseVersion is unknown or too old: read the document again')
  }

  /** Lets `edit` change the past, and brings that change to the present: what was typed since stays. */
  #merge<T>(past: Y.Doc, edit: Edit<T>): { result: T; added: Uint8Array | null } {
    const { result, added } = captureUpdate(past, (doc) => doc.transact(() => edit(doc)))
    past.destroy()
    return { result, added: added === null ? null : this.#room.state.integrate(added).added }
  }

  #edit<T>(edit: Edit<T>): { result: T; added: Uint8Array | null } {
    try {
      return this.#room.state.edit(edit)
    } catch (error) {
      // A refusal comes before the first change. Anything else may have left half an edit behind.
      if (!(error instanceof ApiError)) this.#room.fail(error)
      throw error
    }
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

  #commit(by: string, added: Uint8Array | null): void {
    const { state, commits, commit } = this.#room
    // Even nothing makes a document: what was added empty can be found empty.
    const bytes = added ?? (commits.existence === 'live' ? null : emptyUpdate)
    if (bytes === null) return
    const summary = readUpdate(bytes, { allowSubdocuments: true })
    state.advance(summary)
    void commit({ bytes, by, from: null, summary })
  }

  async #settled<T>(result: T): Promise<{ result: T; version: string }> {
    const { commits } = this.#room
    try {
      return { result, version: versionOf(commits.epoch, await commits.durable) }
    } catch (cause) {
      throw new ApiError('UNAVAILABLE', 'The change could not be stored; try again', { cause })
    }
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
