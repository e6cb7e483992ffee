import type * as Y from 'yjs'
import { ApiError, invalid } from '../../base/errors.ts'
import { type AnchorAnswers, type AnchorQueries, lookUpAnchors } from '../../content/edit/anchors.ts'
import {
  type DocumentReading,
  type EncodedContent,
  readEncoded,
  withState,
} from '../../content/read-document.ts'
import { expectMatch, type NamedSchema, schemaOf } from '../../content/schemas/content-schema.ts'
import {
  type FoundStreamPlace,
  findStreamPlace,
  requireReplaced,
  type StreamPlaceRequest,
} from '../../content/stream/stream-place.ts'
import { baseVersionExpired } from '../../model/version.ts'
import { checkPlaces } from '../../update/check-places.ts'
import { MalformedUpdateError } from '../../update/malformed.ts'
import { isPlain, type UpdateSummary } from '../../update/summary.ts'
import { DocumentState, emptyUpdate, type PlacedIntegration } from '../document/document-state.ts'
import { isTooLargeToPredict, loopStepsMax } from '../document/integration-limits.ts'
import type { LoopSlices } from '../document/loop-slices.ts'
import { convertUpdate, vetUpdate } from '../document/vet-update.ts'
import { loadVersion } from '../log/load-room.ts'
import type { Room } from '../room/room.ts'
import type { PooledThread } from '../threads/thread-pool.ts'
import { mayBeCostly } from '../updates/work-shares.ts'
import { type AppliedChange, failUnlessRejected, makeChange, type ProposedChange } from './backend-change.ts'
import {
  beginEdit,
  chargedToRest,
  checkDocumentSize,
  checkStorage,
  type EditPrecondition,
  type EditResult,
  isCreating,
  prepareCreate,
  type RestoreOptions,
  readDurable,
  resolveBase,
  waitUntilDurable,
} from './edit-conditions.ts'
import { readInline, readOnThread } from './on-thread.ts'
import { inlineSizeMax } from './replacement.ts'

export interface DocumentRead<T> {
  readonly result: T
  readonly version: string
  readonly vector: Uint8Array
  readonly changed: { readonly at: number; readonly by: string }
  readonly sizeBytes: number
}

/** The state of a document at one time. */
export interface DocumentCapture {
  /** The whole state (V1). */
  readonly bytes: Uint8Array
  readonly version: string
  readonly epoch: number
}

/**
 * Reads one open document and applies updates to it, for callers without a websocket. Results are returned
 * only when all content in them is durable.
 */
export class BackendEdits {
  readonly #room: Room

  constructor(room: Room) {
    this.#room = room
  }

  /**
   * Applies a Yjs update (V1). The update stays as it is, except that parts that the document already has are
   * left out. Resolves when the update is durable and sent. A dry run applies nothing. If
   * it throws, nothing is changed.
   * @throws ApiError as for `beginEdit`; INVALID_ARGUMENT if the update is malformed, or if the document would
   * not match its schema; FAILED_PRECONDITION if the update depends on updates that the document does not have
   */
  async apply(by: string, bytes: Uint8Array, options: RestoreOptions): Promise<EditResult<AppliedResult>> {
    const room = this.#room
    const summary = await this.#vet(bytes)
    checkStorage(options, bytes)
    return makeChange(room, {
      by,
      options,
      // The result of a thread is valid for exactly one state of the document.
      pauses: options.dryRun !== true,
      prepare: async () => {
        if (isCreating(room, options)) this.#checkFirst(bytes, summary, options)
        if (options.dryRun !== true) await prepareCreate(room, options)
        if (mayBeCostly(summary)) await room.share()
        if (!isTooLargeToPredict(summary)) await room.openFor('doc')
      },
      inPlace: options.dryRun === true ? undefined : () => this.#integrate(bytes, summary, options),
      compute: () => this.#proposed(bytes, summary, options),
    })
  }

  /** @throws ApiError INVALID_ARGUMENT if the update is malformed */
  #vet(bytes: Uint8Array): Promise<UpdateSummary> {
    return this.#inSlices(vetUpdate, bytes)
  }

  /**
   * Converts an update from the encoding V2 to V1. The result is not vetted.
   * @throws ApiError INVALID_ARGUMENT if the update is malformed
   */
  convert(bytes: Uint8Array): Promise<Uint8Array> {
    return this.#inSlices(convertUpdate, bytes)
  }

  async #inSlices<T>(
    work: (bytes: Uint8Array, slices: LoopSlices, workspaceId: string) => T | Promise<T>,
    bytes: Uint8Array,
  ): Promise<T> {
    const { address, dependencies } = this.#room
    try {
      return await work(bytes, dependencies.slices, address.workspaceId)
    } catch (error) {
      throw asApiError(error)
    }
  }

  /**
   * Checks the update that creates the document, before anything is created for the document. A large update
   * is checked later, on a thread.
   */
  #checkFirst(bytes: Uint8Array, summary: UpdateSummary, options: RestoreOptions): void {
    this.#check(bytes, options)
    if (!this.#isLarge(bytes, summary, options))
      chargedToRest(this.#room, () => this.#rehearse(bytes, summary, options))
  }

  /** Returns whether copying the document or integrating the update takes too long for the event loop. */
  #isLarge(bytes: Uint8Array, summary: UpdateSummary, options: RestoreOptions): boolean {
    const { state } = this.#room
    if (state.predict(bytes, summary) > loopStepsMax) return true
    return (
      !this.#fits(summary, options) && (state.isExpensive || state.sizeBytes + bytes.length > inlineSizeMax)
    )
  }

  /**
   * Integrates the update into the document. Returns null, and changes nothing, if that would take too long
   * for the event loop.
   */
  #integrate(
    bytes: Uint8Array,
    summary: UpdateSummary,
    options: RestoreOptions,
  ): AppliedChange<AppliedResult> | null {
    const room = this.#room
    this.#check(bytes, options)
    if (this.#isLarge(bytes, summary, options)) return null
    return chargedToRest(room, () => {
      const warnings = this.#rehearse(bytes, summary, options)
      const { added } = failUnlessRejected(room, () => room.state.integrate(bytes))
      return { added, result: () => ({ vector: room.state.vector(), warnings }) }
    })
  }

  /**
   * Integrates the update into a working copy of the document, and returns the proposed change. A large
   * update is integrated on a thread.
   */
  async #proposed(
    bytes: Uint8Array,
    summary: UpdateSummary,
    options: RestoreOptions,
  ): Promise<ProposedChange<AppliedResult>> {
    const { state } = this.#room
    this.#check(bytes, options)
    const placed = this.#isLarge(bytes, summary, options)
      ? checked(await this.#room.placeOnThread(bytes, options.rootSchema ?? null))
      : null
    const { revision } = state
    const isCurrent = (): boolean => {
      this.#check(bytes, options)
      return state.revision === revision
    }
    const warnings = placed === null ? this.#rehearse(bytes, summary, options) : placed.warnings
    const result = (): AppliedResult => ({ vector: state.vector(), warnings })
    if (placed === null) {
      const update = options.dryRun === true ? this.#added(bytes) : this.#unknown(bytes, summary)
      return { result, update, isCurrent, apply: () => state.integrate(bytes).added }
    }
    const { added: update } = placed
    const takePlaced = (): Uint8Array | null => {
      if (update !== null) chargedToRest(this.#room, () => state.takePlaced(update, placed))
      return update
    }
    return { result, update, isCurrent, apply: takePlaced }
  }

  /** Returns the update; null if the document has the whole update. */
  #unknown(bytes: Uint8Array, summary: UpdateSummary): Uint8Array | null {
    return this.#room.state.contains(bytes, summary) ? null : bytes
  }

  /** Returns the part of the update that the document lacks, which a working copy finds. */
  #added(bytes: Uint8Array): Uint8Array | null {
    const copy = DocumentState.fromBytes(this.#room.state.encode())
    const { added } = copy.integrate(bytes)
    copy.doc.destroy()
    return added
  }

  /**
   * Checks the preconditions of the update, and the size that the document would have.
   * @throws ApiError if the update must not be applied
   */
  #check(bytes: Uint8Array, options: EditPrecondition): void {
    beginEdit(this.#room, options)
    if (this.#room.generations.concern(bytes)) throw outdated()
    checkDocumentSize(this.#room, bytes.length)
  }

  /**
   * Calls `view` with the document and its whole state (V1). Resolves with the result of `view` when the
   * content that it has read is durable.
   * @throws ApiError UNAVAILABLE
   */
  async view<T>(view: (doc: Y.Doc, bytes: Uint8Array) => T): Promise<DocumentRead<T>> {
    const { state, commits } = this.#room
    await this.#room.openFor('doc')
    const { result, version } = await readDurable(this.#room, () => {
      const bytes = state.encode()
      const seen = view(state.doc, bytes)
      return { result: seen, changed: commits.changed, vector: state.vector(), sizeBytes: bytes.length }
    })
    return { ...result, version }
  }

  /**
   * Returns the update (V1) that a replica with this state vector lacks. Resolves when its content is durable.
   * @throws ApiError UNAVAILABLE
   */
  async missing(vector: Uint8Array): Promise<Uint8Array> {
    const { state } = this.#room
    if (vector.length > 1 && state.mustOpenFor(vector)) await this.#room.openFor('doc')
    return (await readDurable(this.#room, () => state.diff(vector))).result
  }

  /**
   * Reads one root of the document; a large document is read on a thread. Resolves when the content is
   * durable. Resolves with null if there is no document.
   * @param bytesMax limit for the content, as for `readEncoded`
   * @throws ApiError INVALID_ARGUMENT as for `readDocument`; RESOURCE_EXHAUSTED if too many large reads wait,
   * or if the content exceeds `bytesMax`; UNAVAILABLE
   */
  async read(reading: DocumentReading, bytesMax: number): Promise<DocumentRead<EncodedContent> | null> {
    return this.#readLive(
      this.#room.state.sizeBytes,
      bytesMax,
      (doc, bytes, max) => readEncoded(doc, bytes, reading, max),
      (thread, bytes) => readOnThread(thread, bytes, reading, bytesMax),
    )
  }

  /**
   * Looks up anchors in the document; on a thread if that takes long. Resolves when the content is durable.
   * Resolves with null if the document is larger than `sizeMax` bytes.
   * @throws ApiError RESOURCE_EXHAUSTED if too many large reads wait, or if the work takes too long; UNAVAILABLE
   */
  async anchors(queries: AnchorQueries, sizeMax = Number.POSITIVE_INFINITY): Promise<AnchorAnswers | null> {
    const { state } = this.#room
    if (state.sizeBytes > sizeMax) return null
    // The document is searched once for each quote and cursor. All stored anchors together need one pass.
    const searches = queries.find.length + (queries.cursors?.length ?? 0)
    const read = await this.#readLive(
      state.sizeBytes * Math.max(1, searches),
      Number.POSITIVE_INFINITY,
      (doc) => lookUpAnchors(doc, queries),
      (thread, bytes) => thread.run({ is: 'anchors', updates: [bytes], queries }),
    )
    return read?.result ?? withState(emptyUpdate, (doc) => lookUpAnchors(doc, queries))
  }

  /**
   * Finds the place of a stream; on a thread if that takes long. Resolves when the content that was read is
   * durable. Resolves with null if there is no document.
   * @throws ApiError as for `findStreamPlace`; RESOURCE_EXHAUSTED as for `read`; UNAVAILABLE
   */
  async streamPlace(
    request: StreamPlaceRequest,
    schema: NamedSchema | null,
    baseVersion: string | undefined,
  ): Promise<Pick<DocumentRead<FoundStreamPlace>, 'result' | 'version'> | null> {
    const onLoop = (doc: Y.Doc): FoundStreamPlace =>
      findStreamPlace(doc, request, schema === null ? null : schemaOf(schema))
    const onThread = (thread: PooledThread, bytes: Uint8Array): Promise<FoundStreamPlace> =>
      thread.run({ is: 'streamPlace', updates: [bytes], request, schema })
    const past = await this.#readPast(baseVersion, onLoop, onThread)
    if (past !== null) return this.view((doc) => requireReplaced(doc, past))
    return this.#readLive(this.#room.state.sizeBytes, Number.POSITIVE_INFINITY, onLoop, onThread)
  }

  /** Reads an earlier version. Returns null if `baseVersion` is the current one. */
  async #readPast<T>(
    baseVersion: string | undefined,
    onLoop: (doc: Y.Doc) => T,
    onThread: (thread: PooledThread, bytes: Uint8Array) => Promise<T>,
  ): Promise<T | null> {
    const room = this.#room
    const { address, dependencies } = room
    const { readers, log } = dependencies
    room.begin()
    const base = resolveBase(room, { baseVersion })
    if (base === null) return null
    const past = await loadVersion(log, room.doc, base)
    const { lastPrune } = room.generations
    if (past === null || (lastPrune !== null && !past.doc.store.clients.has(lastPrune)))
      throw baseVersionExpired()
    const bytes = past.encode()
    past.doc.destroy()
    const found = await readInline(readers, bytes.length, Number.POSITIVE_INFINITY, () =>
      withState(bytes, onLoop),
    )
    return found ?? readers.use(address, (thread) => onThread(thread, bytes))
  }

  /**
   * Reads the document if there is one.
   * @param sizeBytes size of a document that takes as long to read
   * @param bytesMax limit for the encoded content
   * @param onLoop reads it on the event loop, with a limit for the encoded content
   * @param onThread reads its whole state (V1) on a thread
   */
  async #readLive<T>(
    sizeBytes: number,
    bytesMax: number,
    onLoop: (doc: Y.Doc, bytes: Uint8Array, bytesMax: number) => T,
    onThread: (thread: PooledThread, bytes: Uint8Array) => Promise<T>,
  ): Promise<DocumentRead<T> | null> {
    const { address, state, commits, dependencies } = this.#room
    const { readers } = dependencies
    this.#room.begin()
    if (commits.existence !== 'live') return (await waitUntilDurable(this.#room, null)).result
    const read = await readInline(readers, sizeBytes, bytesMax, (max) =>
      this.view((doc, bytes) => onLoop(doc, bytes, max)),
    )
    if (read !== null) return read
    // The document is encoded only when a thread is free, so that waiting calls do not keep copies of it.
    return readers.use(address, async (thread) => {
      const { result, version } = await this.#room.whenEncoded(() =>
        readDurable(this.#room, () => {
          const bytes = state.encode()
          return { bytes, changed: commits.changed, vector: state.vector(), sizeBytes: bytes.length }
        }),
      )
      const { bytes, ...seen } = result
      return { ...seen, version, result: await onThread(thread, bytes) }
    })
  }

  /**
   * Returns the current state of the document when it is durable; null if there is no document.
   * @param capturing called in the tick that reads the state, which is later for a large document
   * @throws ApiError UNAVAILABLE
   */
  async capture(capturing = (): void => {}): Promise<DocumentCapture | null> {
    const { state, commits } = this.#room
    const { result, version } = await this.#room.whenEncoded(() =>
      readDurable(this.#room, () => {
        capturing()
        return commits.existence === 'live' ? state.encode() : null
      }),
    )
    return result === null ? null : { bytes: result, epoch: commits.epoch, version }
  }

  /**
   * Returns the current version of the document when it is durable; null if there is no document.
   * @throws ApiError UNAVAILABLE
   */
  async version(): Promise<string | null> {
    const { commits } = this.#room
    const { result: isLive, version } = await readDurable(this.#room, () => commits.existence === 'live')
    return isLive ? version : null
  }

  /**
   * Checks an update by applying it to a working copy, so that a problem does not damage the document itself. Returns
   * warnings as `checkAgainstSchema` does.
   */
  #rehearse(bytes: Uint8Array, summary: UpdateSummary, options: RestoreOptions): readonly string[] {
    const { state } = this.#room
    vetted(() => checkPlaces(bytes, state.doc))
    if (this.#fits(summary, options)) return []
    const copy = DocumentState.fromBytes(state.encode())
    const check = expectMatch(copy.doc, options.rootSchema ?? null)
    if (copy.integrate(bytes).gap) throw incomplete()
    const warnings = check()
    copy.doc.destroy()
    return warnings
  }

  /**
   * Returns whether the update needs no working copy, because the document has no schema, and vetting has
   * already found every problem that applying the update could reveal.
   */
  #fits(summary: UpdateSummary, options: RestoreOptions): boolean {
    return !hasSchema(options) && isPlain(summary, this.#room.state.clocks)
  }
}

interface AppliedResult {
  /** State vector (V1) of the document afterwards. */
  readonly vector: Uint8Array
  /** Sentences about places that did not match the schema before: see `checkAgainstSchema`. */
  readonly warnings: readonly string[]
}

const hasSchema = ({ rootSchema = null }: RestoreOptions): boolean => rootSchema !== null

const incomplete = (): ApiError =>
  new ApiError(
    'crdt/update-incomplete',
    'the update depends on updates that the document does not have: encode it against the state vector of the document',
  )

const outdated = (): ApiError =>
  new ApiError(
    'crdt/update-incomplete',
    'the update is from before a prune of the editor: load the document again, and edit that',
  )

/** Returns the error for an update that is malformed. */
const malformedUpdate = (problem: string): ApiError =>
  invalid(
    'crdt/malformed-update',
    `the update is malformed: ${problem}; send a Yjs update in V1, or in V2 with encoding: "v2"`,
  )

/** Checks the result of a thread, and returns it. @throws ApiError if the update must not be applied */
function checked(placed: PlacedIntegration): PlacedIntegration {
  if (placed.problem !== null) throw malformedUpdate(placed.problem)
  if (placed.gap) throw incomplete()
  return placed
}

/**
 * Runs `check`, which vets an update, and returns its result. @throws ApiError INVALID_ARGUMENT if the update
 * is malformed
 */
function vetted<T>(check: () => T): T {
  try {
    return check()
  } catch (error) {
    throw asApiError(error)
  }
}

const asApiError = (error: unknown): unknown =>
  error instanceof MalformedUpdateError ? malformedUpdate(error.message) : error
