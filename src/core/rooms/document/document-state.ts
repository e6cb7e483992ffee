import { randomInt } from 'node:crypto'
import * as Y from 'yjs'
import { errorMessage } from '../../base/errors.ts'
import { ElementIndex } from '../../content/edit/targets/element-index.ts'
import { createDoc, noGuid } from '../../content/yjs/create-doc.ts'
import { CorruptRecordError } from '../../store/engine.ts'
import { sortDeletions, withoutKnownDeletions } from '../../update/deletions.ts'
import { integrablePart } from '../../update/integrable-part.ts'
import {
  applyIntegrable,
  type Budget,
  IntegrationTooExpensiveError,
  Placements,
  skipObservers,
  structsOf,
  valuesIn,
  withinBudget,
} from '../../update/integration.ts'
import { type Joined, joinUpdates } from '../../update/join-updates.ts'
import { deletionSteps, Prediction, predictSteps, stepsOfDeletion } from '../../update/predict-steps.ts'
import { readUpdate } from '../../update/read-update.ts'
import { readStateVector, writeStateVector } from '../../update/state-vector.ts'
import { advance, isEmpty, type UpdateSummary } from '../../update/summary.ts'
import { encodingSlices } from './encode-slices.ts'
import { IncomingBuffer } from './incoming-buffer.ts'
import {
  bytesPerTick,
  encodedPerSlice,
  integrationStepsMax,
  isTooLargeToPredict,
  isWorthLookingUp,
  loadStepsMax,
  loopStepsMax,
  partsOf,
  placedPartsMax,
  structsPerTick,
  updatesPerTransaction,
} from './integration-limits.ts'
import { inEachTick, type RunSlice } from './loop-slices.ts'
import { DocumentDamagedError, DocumentExpensiveError } from './unreadable-documents.ts'

/** An update (V1) without content. A client that has nothing to add sends this update as its SyncStep2. */
export const emptyUpdate = new Uint8Array(2)

/**
 * Number of waiting simple updates at which all of them are applied in one transaction. A read of the Y.Doc
 * applies them earlier.
 */
const waitingMax = updatesPerTransaction

/**
 * Maximum number of waiting updates. If one tick brings more, they are applied within the tick, because the
 * time that Yjs needs grows faster than the number of updates that are joined.
 */
const mostWaiting = 512

/**
 * Number of clients in a document for which one more simple update waits. In each transaction, Yjs visits all
 * clients of the document, so 64 updates per transaction would take quadratic time.
 */
const clientsPerWaiting = 64

/**
 * Returns a random number of waiting updates at which the first transaction is made. If the number were the
 * same for all rooms, rooms that were opened together would all apply their updates in the same tick.
 */
const firstWaitingMax = (): number => randomInt(waitingMax / 2, waitingMax)

/** A client and the clock of its next item. */
export interface ClientClock {
  readonly client: number
  readonly clock: number
}

/** Maximum number of updates after the bytes from which a Y.Doc was created, for these bytes to be kept. */
const laterMax = 64

/** The bytes from which a Y.Doc was created, and the updates since then. */
interface OpenedBytes {
  readonly bytes: Uint8Array
  readonly later: Uint8Array[]
  laterBytes: number
}

/**
 * Maximum number of client ids that are kept for working copies. The working copies of replacements with a
 * base version reuse these ids, so that they do not add clients to the state.
 */
const mergersMax = 16

/**
 * Limit for the product of two numbers: the items that a transaction deletes, and the items of the document.
 * At this product, the transaction takes Yjs about 25 ms, because Yjs shifts all later items for each item
 * that it joins to its neighbor.
 */
const dearFrom = 20_000_000

/** Number of items whose deletion in one transaction takes Yjs about 10 ms. */
const deletedFrom = 5_000

/** Steps for the deletion of a whole document up to which an update is not searched for the items that it deletes. */
const freeDeletionSteps = 50_000

/** A vetted update and its summary. */
interface VettedUpdate {
  readonly bytes: Uint8Array
  readonly summary: UpdateSummary
}

/** Returns the number of new structs and splits of an update. */
const partsToPlace = ({ structs, deletes }: UpdateSummary): number => structs + 2 * deletes

interface IntegrationResult {
  /** The new part of the update, as a separate update; null if the document already had the whole update. */
  readonly added: Uint8Array | null
  /** True if a part of the update depends on missing updates. That part was not applied. */
  readonly gap: boolean
  /** True if applying the update to this document takes too long on an event loop. */
  readonly isDear: boolean
  /** True if the update has deleted content of the document; formatting marks are not content. */
  readonly deletes: boolean
}

/** A whole state. */
export interface EncodedState {
  /** The state (V1). */
  readonly bytes: Uint8Array
  /** Milliseconds that encoding took. */
  readonly ms: number
}

interface StateOptions {
  /**
   * The positions of the items in the bytes, found by a thread. Given if conflict scans would be too
   * expensive for an event loop.
   */
  readonly placements?: Placements | null
  /**
   * True if work that would block an event loop for too long is rejected. Default: true. Threads and commands
   * of the command line use false.
   */
  readonly isBounded?: boolean
}

/** An update that was integrated into a copy of the document. */
export interface PlacedIntegration extends Omit<IntegrationResult, 'deletes'> {
  /** The positions of the items of the update, in the form that `Placements` accepts. */
  readonly placements: readonly number[]
  /**
   * The whole state (V1) after the update if reading this state is faster than applying the update, or if it need not be
   * read at once; otherwise null.
   */
  readonly state: Uint8Array | null
  /**
   * The reason why the update is malformed, if this shows only when the update is integrated; null if the
   * update is valid.
   */
  readonly problem: string | null
  /** Sentences about places that did not match the schema before: see `checkAgainstSchema`. */
  readonly warnings: readonly string[]
}

/** Updates that were integrated into a copy of the document, one after the other. */
export interface PlacedBatch {
  /** The outcome of each update, in order. */
  readonly placed: readonly Pick<PlacedIntegration, 'added' | 'gap' | 'problem'>[]
  /** The whole state (V1) after these updates. */
  readonly state: Uint8Array
}

/**
 * The content of one document. It is kept as a Y.Doc while the document is edited, and as bytes while the
 * document is only read and sent, because a Y.Doc takes many times the memory of its bytes. The content never
 * contains pending updates.
 */
export class DocumentState {
  /** Next expected clock of each client. */
  readonly clocks: Map<number, number>
  /**
   * Client ids for working copies whose updates are merged into this document. An id is reused if that is
   * safe, because each id stays in the state of the document permanently.
   */
  readonly #mergers = new Set([randomClient()])
  /**
   * The client id for edits that are made directly in the Y.Doc. It is never in `#mergers`, because Yjs
   * treats a remote update with its own client id as an error.
   */
  readonly #writer = randomClient()
  #doc: Y.Doc | null
  /** Updates that are not yet in the Y.Doc or in the bytes. */
  readonly #waiting = new IncomingBuffer()
  #waitingStructs = 0
  /** Upper bound of the steps for the items that the waiting updates delete. */
  #waitingDeletions = 0
  /** The prediction for the waiting updates; null if their number shows that they take few steps. */
  #waitingSteps: Prediction | null = null
  #waitingMax = firstWaitingMax()
  /**
   * The whole state, if there is no Y.Doc. If `#form` is `joined`, the bytes were joined from several parts,
   * and Yjs would encode the same state in fewer bytes.
   */
  #bytes: Uint8Array
  #form: 'encoded' | 'joined' = 'encoded'
  /** The offset of the delete set in `#bytes`; null if it is unknown. */
  #structsEnd: number | null = null
  /**
   * Upper bound of the size of the state: the size at the last encoding plus all bytes that were added since.
   * It is an upper bound because merging only shrinks the state.
   */
  #sizeBytes: number
  #addedBytes = 0
  /** An upper bound of the number of structs in the document. */
  #structs: number
  /** Upper bound of the number of values in the longest item. Only valid while there is a Y.Doc. */
  #values = 0
  /**
   * The positions of the items of `#bytes`, found by a thread; null if conflict scans must find the
   * positions.
   */
  #placements: Placements | null
  /** Steps that Yjs needed to create the Y.Doc and to apply updates to it since then. */
  #steps = 0
  /** The part of `#steps` that was needed to create the Y.Doc. */
  #loadSteps = 0
  /** Milliseconds that creating the Y.Doc from its bytes has taken in total. */
  #loadMs = 0
  #opened: OpenedBytes | null = null
  /** The elements of the root that was edited last, until the Y.Doc is dropped or `restElements`. */
  #elements: { readonly doc: Y.Doc; readonly contentKey: string; readonly index: ElementIndex } | null = null
  #hasUsedElements = false
  /** True if a thread has created the Y.Doc of the document for a change. */
  wasReadOnThread = false

  /** True if this thread runs an event loop that must not be blocked for long. */
  readonly isBounded: boolean
  /** Increases with each change. */
  #revision = 0
  /**
   * The last result of `encode`, kept as long as a caller still refers to it. Many callers may read a large
   * document simultaneously.
   */
  #encoded: { readonly revision: number; readonly bytes: WeakRef<Uint8Array> } | null = null

  private constructor(
    bytes: Uint8Array,
    joined: Joined | null,
    { placements = null, isBounded = true }: StateOptions = {},
  ) {
    this.isBounded = isBounded
    this.#doc = null
    this.#bytes = bytes
    this.#sizeBytes = bytes.length
    this.#structsEnd = joined?.structsEnd ?? null
    this.#structs = joined?.structs ?? bytes.length
    this.#placements = placements
    this.clocks = joined?.clocks ?? Y.decodeStateVector(Y.encodeStateVectorFromUpdate(bytes))
  }

  /** @param bytes a whole state, as `Y.encodeStateAsUpdate` returns it; null for an empty document */
  static fromBytes(bytes: Uint8Array | null, options: StateOptions = {}): DocumentState {
    const whole = bytes ?? emptyUpdate
    return new DocumentState(whole, joinUpdates([whole]), options)
  }

  /**
   * Joins a stored snapshot (null if there is none) and the updates after it, and keeps the result as bytes.
   * Returns null if they cannot be joined as bytes; the caller must then create a Y.Doc from them.
   */
  static fromStored(
    snapshot: Uint8Array | null,
    updates: readonly Uint8Array[],
    options: StateOptions = {},
  ): DocumentState | null {
    const joined = joinUpdates(snapshot === null ? updates : [snapshot, ...updates])
    if (joined === null) return null
    const state = new DocumentState(joined.bytes, joined, options)
    if (updates.length > 0) state.#form = 'joined'
    state.#addedBytes = joined.bytes.length - (snapshot?.length ?? 0)
    return state
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** Returns the Y.Doc with all updates. Applies waiting updates first. */
  get doc(): Y.Doc {
    const doc = this.#doc ?? this.#makeDoc()
    this.#applyWaiting(doc)
    return doc
  }

  /**
   * Returns an upper bound of the steps that integrating a vetted update takes; Infinity if the update is too
   * large to predict on an event loop. If the result exceeds `loopStepsMax`, a thread must do the conflict
   * scans.
   * @throws DocumentDamagedError, DocumentExpensiveError
   */
  predict(bytes: Uint8Array, summary: UpdateSummary): number {
    const update = { bytes, summary }
    if (this.stepsBound(update) <= loopStepsMax) return 0
    if (this.isBounded && isTooLargeToPredict(summary)) return unbounded
    this.#structs = structsOf(this.doc)
    return this.stepsBound(update) <= loopStepsMax ? 0 : predictSteps(bytes, this.doc)
  }

  /**
   * Returns an upper bound of the steps that integrating a vetted update takes. It is far too high for most large
   * updates, but fast.
   */
  stepsBound(update: VettedUpdate): number {
    const parts = partsToPlace(update.summary)
    const steps = parts * this.#stepsOfPart(parts)
    return steps > loopStepsMax ? steps : steps + this.#deletionBound(update)
  }

  /**
   * Returns an upper bound of the steps for the items of the document that an update deletes. These may be all items,
   * because the deletion of a type deletes everything inside it.
   */
  #deletionBound({ bytes, summary }: VettedUpdate): number {
    if (summary.deletes === 0) return 0
    const bound = this.#structs * stepsOfDeletion
    return this.#doc === null || bound <= freeDeletionSteps ? bound : deletionSteps(bytes, summary, this.#doc)
  }

  /**
   * Returns the maximum steps for one of `parts` new structs and splits: a conflict scan over all structs, two
   * splits, and its deletion.
   */
  #stepsOfPart(parts: number): number {
    return this.#structs + parts + 2 * (this.#doc === null ? 0 : this.#values) + stepsOfDeletion
  }

  /** Returns an upper bound of the steps for waiting updates with `parts` parts. */
  #stepsOfWaiting(parts: number, deletions: number): number {
    return parts * this.#stepsOfPart(parts) + this.#waitingDeletions + deletions
  }

  /** Steps that Yjs needed to create the Y.Doc and to apply updates to it since then. */
  get steps(): number {
    return this.#steps
  }

  /**
   * Milliseconds that creating the Y.Doc from its bytes has taken in total. This time is not charged to
   * edits.
   */
  get loadMs(): number {
    return this.#loadMs
  }

  /**
   * True if conflict scans in this document would block an event loop for too long. Copies of such a document
   * are created on threads only.
   */
  get isExpensive(): boolean {
    return this.#placements !== null || this.#loadSteps > loadStepsMax(this.#sizeBytes) / 2
  }

  /** A number that increases with each change. */
  get revision(): number {
    return this.#revision
  }

  /**
   * Returns whether an additional update (null for none) may wait, so that integrating all waiting updates
   * together still takes few enough steps.
   */
  #mayWait(structs: number, deletions: number, update: Uint8Array | null): boolean {
    const parts = this.#waitingStructs + structs
    if (this.#doc === null && parts * this.#sizeBytes > integrationStepsMax) return false
    // A prediction must contain all waiting updates, so the first one decides whether there is one.
    const first = this.#waiting.count === 0 ? this.#doc : null
    const most = first === null ? parts : Math.max(parts, waitingMax)
    if (this.#waitingSteps === null && this.#stepsOfWaiting(most, deletions) <= loopStepsMax) return true
    if (first !== null) this.#waitingSteps = new Prediction(first)
    if (this.#waitingSteps === null) return false
    if (update !== null) this.#waitingSteps.add(update)
    return this.#waitingSteps.steps <= loopStepsMax
  }

  /**
   * Creates the Y.Doc if there is none. @throws DocumentDamagedError if Yjs cannot read the stored bytes;
   * DocumentExpensiveError
   */
  check(): void {
    this.#doc ??= this.#makeDoc()
  }

  /**
   * The whole state, without the waiting updates, if creating the Y.Doc from it would hold up an event loop; otherwise
   * null. The caller must split it and call `openIn` before the Y.Doc is needed.
   */
  get bytesToSplit(): Uint8Array | null {
    const structsMax = Math.min(this.#structs, this.#bytes.length / 2)
    const isLarge = structsMax > structsPerTick || this.#bytes.length > bytesPerTick
    return this.isBounded && this.#doc === null && isLarge ? this.#bytes : null
  }

  /** Like `bytesToSplit`; null also if `encode` needs no Y.Doc. */
  get bytesToEncode(): Uint8Array | null {
    return this.#isEncoded ? null : this.bytesToSplit
  }

  /** True if the bytes are the whole state as Yjs encodes it. */
  get #isEncoded(): boolean {
    return this.bytes !== null && this.#form === 'encoded'
  }

  /**
   * Creates the Y.Doc from updates, one in each slice. The document is readable as before until the last of them is
   * read. Does nothing if the document changes meanwhile.
   * @param parts the result of `splitUpdate` for `bytesToSplit`
   * @throws DocumentDamagedError, DocumentExpensiveError, as `check`
   */
  async openIn(parts: readonly Uint8Array[], runSlice = inEachTick): Promise<void> {
    const bytes = this.#bytes
    const { doc, read } = this.#newDoc(true)
    for (const part of parts) {
      await runSlice(() => read(part))
      if (this.#doc !== null || this.#bytes !== bytes) return doc.destroy()
    }
    const later = this.#waiting.count === 0 ? [] : [this.#waiting.joined()]
    this.#opened = { bytes, later, laterBytes: 0 }
    this.#open(doc)
  }

  /**
   * The bytes of a large document that was opened in slices, and the updates since then, as long as these are few.
   * Encoding the document again would hold up the event loop.
   */
  get opened(): Pick<OpenedBytes, 'bytes' | 'later'> | null {
    return this.#opened
  }

  /**
   * Returns the elements of a root. They are kept with the Y.Doc, so that later edits of the same root need not read
   * them again. Returns undefined if the document has no such root.
   */
  elementsOf(contentKey: string): ElementIndex | undefined {
    const { doc } = this
    const known = this.#elements
    this.#hasUsedElements = true
    if (known?.doc === doc && known.contentKey === contentKey) return known.index
    const root = doc.share.get(contentKey)
    if (root === undefined) return undefined
    const index = new ElementIndex(root, true)
    this.#elements = { doc, contentKey, index }
    return index
  }

  /** Frees the memory of the elements if no edit has used them since the last call. They take as much as their text. */
  restElements(): void {
    if (!this.#hasUsedElements) this.#elements = null
    this.#hasUsedElements = false
  }

  /** Replaces the Y.Doc with its bytes, to free memory. Without a Y.Doc, joins the waiting updates to the bytes. */
  drop(): void {
    // An expensive document would have to be read on a thread again.
    if (this.bytes !== null || this.isExpensive) return
    // Yjs encodes bytes that were joined before, so that they do not grow with each pause of the users.
    const joined =
      this.#doc === null && this.#form === 'encoded'
        ? joinUpdates([this.#bytes, this.#waiting.joined()])
        : null
    this.become(joined?.bytes ?? this.encode())
    if (joined === null) return
    this.#form = 'joined'
    this.#structs = joined.structs
    this.#structsEnd = joined.structsEnd
    this.#addedBytes = joined.bytes.length
  }

  /**
   * Applies updates that continue the document exactly (`isPlain`), up to 64 in one transaction. This takes a
   * third of the time that a transaction for each update would take. The caller must advance `clocks`.
   */
  applyPlain(updates: readonly { readonly bytes: Uint8Array }[], stepsMax = integrationStepsMax): void {
    const { doc } = this
    for (let start = 0; start < updates.length; start += updatesPerTransaction) {
      const together = updates.slice(start, start + updatesPerTransaction)
      this.#within({ doc, stepsMax }, () =>
        doc.transact(() => {
          for (const { bytes } of together) applyIntegrable(doc, bytes)
        }),
      )
    }
    for (const { bytes } of updates) this.#grow(bytes)
  }

  /**
   * Keeps the updates and applies them later, many together, because a transaction is the most expensive part
   * of an edit. The updates are stored and sent before they are applied, so Yjs must not reject them: they
   * must be simple (`isSimple`). The caller must call `applyDue` afterwards.
   */
  applyLater(updates: readonly VettedUpdate[]): void {
    for (const update of updates) {
      const { bytes, summary } = update
      const structs = partsToPlace(summary)
      const deletions = this.#deletionBound(update)
      if (this.#waiting.count >= mostWaiting || !this.#mayWait(structs, deletions, bytes)) {
        void this.doc
        this.#mayWait(structs, deletions, bytes)
      }
      this.#waiting.add(bytes, summary)
      this.#waitingStructs += structs
      this.#waitingDeletions += deletions
      this.#grow(bytes, summary.values)
    }
    if (!this.#mayWait(0, 0, null)) void this.doc
  }

  /** True if enough updates wait to justify a transaction. */
  get isDue(): boolean {
    const ofClients = Math.min(mostWaiting, this.clocks.size / clientsPerWaiting)
    return this.#waiting.count >= Math.max(this.#waitingMax, ofClients)
  }

  /** Applies the waiting updates if there are enough for a transaction. */
  applyDue(): void {
    if (this.isDue) this.#applyWaiting(this.#doc ?? this.#makeDoc())
  }

  /**
   * Applies any vetted update. Skips parts that the document has, and leaves out parts that depend on a
   * missing update. The skipped parts are removed before Yjs reads the update, because Yjs throws if it has
   * garbage-collected an item and the update contains a longer version of that item.
   */
  integrate(bytes: Uint8Array): IntegrationResult {
    return this.#integrated(bytes, integrationStepsMax)
  }

  #integrated(bytes: Uint8Array, stepsMax: number): IntegrationResult {
    const { unknown, isCut } = this.#unknownIn(bytes)
    const { doc } = this
    const { store } = doc
    const { added, isDear, deletes } = this.#within({ doc, stepsMax }, () =>
      this.#capture(() => applyIntegrable(doc, unknown)),
    )
    const gap = isCut || store.pendingStructs !== null || store.pendingDs !== null
    store.pendingStructs = null
    store.pendingDs = null
    return { added, gap, isDear, deletes }
  }

  /**
   * Returns the part of a vetted update that the document lacks, in a form that costs Yjs n·log n. `isCut`: true
   * if structs that depend on missing ones are left out.
   */
  #unknownIn(bytes: Uint8Array): { readonly unknown: Uint8Array; readonly isCut: boolean } {
    // The clocks of a working copy on a thread may be those of its snapshot.
    const { store } = this.doc
    const part = integrablePart(bytes, (client) => Y.getState(store, client))
    return { unknown: Y.diffUpdate(sortDeletions(part), this.vector()), isCut: part !== bytes }
  }

  /**
   * Applies an update that this server has made for this document. No limit of integration applies: such an
   * update is the change of a backend, whose planner bounds the work, and rejecting it would end the room.
   * Returns the part that the document lacked; null if it lacked nothing.
   */
  integrateOwn(bytes: Uint8Array): Uint8Array | null {
    return this.#integrated(bytes, unbounded).added
  }

  /** Like `integrateOwn`, for an update that continues the document exactly (`isPlain`). */
  applyOwn(bytes: Uint8Array): void {
    this.applyPlain([{ bytes }], unbounded)
  }

  /**
   * Integrates an update into this copy of the document, on a thread, and records the positions of its items,
   * so that `takePlaced` needs no conflict scan.
   * @param stepsMax maximum steps for reading the document and integrating the update, in total
   * @throws IntegrationTooExpensiveError
   */
  placeItems(bytes: Uint8Array, stepsMax: number): Omit<PlacedIntegration, 'problem' | 'state' | 'warnings'> {
    const { doc } = this
    const { store } = doc
    const found: number[] = []
    let placedSteps = 0
    const { unknown, isCut } = this.#unknownIn(bytes)
    const budget: Budget = { doc, stepsMax: stepsMax - this.#steps, placements: null, found }
    const { added, isDear } = withinBudget(
      budget,
      () => this.#capture(() => applyIntegrable(doc, unknown)),
      ({ steps, scanned }) => {
        this.#steps += steps
        placedSteps = steps - scanned
      },
    )
    const gap = isCut || store.pendingStructs !== null || store.pendingDs !== null
    store.pendingStructs = null
    store.pendingDs = null
    const parts = added === null ? 0 : partsOf(readUpdate(added))
    const isSlow = placedSteps > loopStepsMax || parts > placedPartsMax(structsOf(doc))
    return { added, gap, isDear: isDear || isSlow, placements: found }
  }

  /**
   * Applies an update to the document. A thread has already integrated this update into a copy of the same
   * state.
   */
  takePlaced(
    added: Uint8Array,
    { placements, state }: Pick<PlacedIntegration, 'placements' | 'state'>,
  ): void {
    if (state !== null) return this.become(state)
    const { doc } = this
    const budget = { doc, stepsMax: integrationStepsMax, placements: new Placements(placements) }
    this.#within(budget, () => applyIntegrable(doc, added))
    this.#grow(added)
  }

  /**
   * Runs `change`, which edits the document, in one transaction. In the result, `added` is the update that
   * describes the change, or null if nothing changed.
   */
  edit<T>(change: (doc: Y.Doc) => T): Captured<T> {
    return this.#capture(change)
  }

  /** The client ids that a working copy may use, with their next clocks. */
  get mergers(): readonly ClientClock[] {
    return [...this.#mergers].map((client) => ({ client, clock: this.clocks.get(client) ?? 0 }))
  }

  /** Keeps the client id of a merged working copy, so that later working copies can reuse it. */
  keepMerger(client: number): void {
    if (this.#mergers.size < mergersMax) this.#mergers.add(client)
  }

  /**
   * Chooses the client id for this working copy: one of `writers` whose clock is the same in the copy. If the
   * clocks differ, the client has written more elsewhere, so the copy would use some of its clocks a second
   * time. If no clock is the same, the copy keeps its new client id. Returns the chosen id with its next
   * clock.
   */
  writeAs(writers: readonly ClientClock[]): ClientClock {
    const { doc } = this
    const writer = writers.find(({ client, clock }) => Y.getState(doc.store, client) === clock)
    if (writer !== undefined) doc.clientID = writer.client
    return { client: doc.clientID, clock: Y.getState(doc.store, doc.clientID) }
  }

  /**
   * Replaces the state with the whole state `bytes`, for example the one that a thread made from this state
   * and an update. If the update deletes a lot, reading the new state takes a fraction of the time of
   * applying the update, because Yjs shifts all later items for each item that it joins to another.
   */
  become(bytes: Uint8Array): void {
    this.#doc?.destroy()
    this.#doc = null
    this.#elements = null
    this.#opened = null
    this.#clearWaiting()
    this.#bytes = bytes
    this.#placements = null
    this.#steps = 0
    this.#revision += 1
    this.#structs = bytes.length
    this.#form = 'encoded'
    this.#structsEnd = null
    this.#sizeBytes = bytes.length
    this.#addedBytes = 0
  }

  /** Advances `clocks` past the update that `integrate` or `edit` returned. */
  advance(summary: UpdateSummary): void {
    advance(summary, this.clocks)
  }

  /** Updates `clocks` from the document. Call it after `applyPlain` if `advance` was not called. */
  recount(): void {
    const counted = Y.decodeStateVector(Y.encodeStateVector(this.doc))
    for (const [client, clock] of counted) this.clocks.set(client, clock)
  }

  /**
   * Returns the update that a client with this state vector lacks. If the vector is null, returns the whole
   * state.
   */
  diff(vector: Uint8Array | null): Uint8Array {
    if (vector === null || vector.length <= 1) return this.bytes ?? this.encode()
    return this.#diffOfBytes(vector) ?? Y.encodeStateAsUpdate(this.doc, vector)
  }

  /** True if `diff` would create the Y.Doc of a large document in one piece. The vector must not be empty. */
  mustOpenFor(vector: Uint8Array): boolean {
    return this.bytesToSplit !== null && this.#diffOfBytes(vector) === null
  }

  /** Returns the update that a client with this state vector lacks if this needs no Y.Doc; otherwise null. */
  #diffOfBytes(vector: Uint8Array): Uint8Array | null {
    return this.bytes !== null && this.#isCovered(readStateVector(vector)) ? this.#deletions() : null
  }

  /**
   * Returns true if the document certainly has the whole update, as is the case for the reply of an
   * up-to-date client. Creates no Y.Doc; false therefore means "unknown".
   */
  isKnown(bytes: Uint8Array, { structs, structsEnd }: UpdateSummary): boolean {
    if (this.bytes === null || structs > 0) return false
    const deletions = this.#deletions()
    return deletions !== null && Buffer.compare(bytes.subarray(structsEnd), deletions.subarray(1)) === 0
  }

  /**
   * Returns a vetted update without many deletions that the Y.Doc already has. Returns the update itself if there is no
   * Y.Doc, or if a thread integrates the update faster.
   */
  withoutKnown(bytes: Uint8Array, summary: UpdateSummary): Uint8Array {
    if (this.#doc === null || !isWorthLookingUp(summary)) return bytes
    return withoutKnownDeletions(bytes, summary, this.doc.store)
  }

  /**
   * Returns whether the update contains nothing new. This is expensive if the update deletes something, so
   * call it rarely.
   */
  contains(bytes: Uint8Array, summary: UpdateSummary): boolean {
    if (isEmpty(summary) || this.isKnown(bytes, summary)) return true
    if (summary.clients.some(({ client, to }) => to > (this.clocks.get(client) ?? 0))) return false
    return summary.deletes === 0 || Y.snapshotContainsUpdate(Y.snapshot(this.doc), bytes)
  }

  vector(): Uint8Array {
    return writeStateVector(this.clocks)
  }

  /** The whole state if it is kept as bytes at the moment; otherwise null. */
  get bytes(): Uint8Array | null {
    return this.#doc === null && this.#waiting.count === 0 ? this.#bytes : null
  }

  /**
   * The whole state in two parts, if there is no Y.Doc: the bytes, and one update with the changes that the
   * bytes lack (null if no change waits). Null if there is a Y.Doc.
   */
  get parts(): { readonly bytes: Uint8Array; readonly waiting: Uint8Array | null } | null {
    if (this.#doc !== null) return null
    return { bytes: this.#bytes, waiting: this.#waiting.count === 0 ? null : this.#waiting.joined() }
  }

  /** Returns the whole state. */
  encode(): Uint8Array {
    return this.#known ?? this.#knowEncoded(Y.encodeStateAsUpdate(this.doc))
  }

  /** True if `encode` would hold up an event loop. The caller should use `encodeIn`. */
  get isSlowToEncode(): boolean {
    return this.isBounded && this.#sizeBytes > encodedPerSlice.bytes && this.#known === null
  }

  /**
   * Returns the whole state. @param sliced the last result of `encodeIn`, which is returned unless the document has
   * changed since then; null without one
   */
  encodeTimed(sliced: Pick<EncodedState, 'ms'> | null = null): EncodedState {
    const startedAt = performance.now()
    const bytes = this.encode()
    return { bytes, ms: performance.now() - startedAt + (sliced?.ms ?? 0) }
  }

  /** Returns the whole state, which it encodes in slices. If the document changes meanwhile, encodes it at once. */
  async encodeIn(runSlice: RunSlice = inEachTick): Promise<EncodedState> {
    const slices = encodingSlices(this.doc, this.#sizeBytes)
    const revision = this.#revision
    let ms = 0
    for (;;) {
      const { value } = await runSlice(() => {
        const startedAt = performance.now()
        const slice = slices.next()
        ms += performance.now() - startedAt
        return slice
      })
      if (this.#revision !== revision || value === null) return this.encodeTimed({ ms })
      if (value !== undefined) return { bytes: this.#knowEncoded(value), ms }
    }
  }

  /** The whole state if it is in memory. */
  get #known(): Uint8Array | null {
    if (this.#isEncoded) return this.#bytes
    return (this.#encoded?.revision === this.#revision && this.#encoded.bytes.deref()) || null
  }

  #knowEncoded(bytes: Uint8Array): Uint8Array {
    this.#sizeBytes = bytes.length
    this.#addedBytes = 0
    if (bytes.length >= keptFrom) this.#encoded = { revision: this.#revision, bytes: new WeakRef(bytes) }
    return bytes
  }

  /**
   * Returns whether the document may grow by `bytes` without exceeding `bytesMax`. Before it returns false,
   * it determines the exact size, for which it encodes the state if anything has changed since the last
   * encoding. Encoding is expensive, so the caller must end a socket after each rejection.
   */
  hasRoomFor(bytes: number, bytesMax: number): boolean {
    if (this.#sizeBytes + bytes <= bytesMax) return true
    if (this.#addedBytes > 0) this.encode()
    return this.#sizeBytes + bytes <= bytesMax
  }

  /**
   * Creates the Y.Doc from the bytes.
   * @throws DocumentDamagedError if Yjs cannot read the stored bytes; DocumentExpensiveError if reading takes
   * too long for this thread
   */
  #makeDoc(): Y.Doc {
    const { doc, read } = this.#newDoc()
    read(this.#bytes)
    return this.#open(doc)
  }

  /** Returns an empty Y.Doc, and a function that reads the bytes, or parts of them, with the errors of `#makeDoc`. */
  #newDoc(inParts = false): { readonly doc: Y.Doc; readonly read: (part: Uint8Array) => void } {
    const doc = createDoc()
    skipObservers(doc, (transaction) => {
      if (this.#elements?.doc === transaction.doc) this.#elements.index.changed(transaction)
    })
    this.#loadSteps = 0
    const placements = this.#placements
    const isSplit = this.#form === 'encoded'
    // Items that Yjs has encoded are usually split already. Between two parts, Yjs would merge them again.
    const mergesNothing = inParts && isSplit
    const apply = isSplit && this.isBounded && !inParts ? Y.applyUpdate : applyIntegrable
    const read = (part: Uint8Array): void => {
      const stepsMax = placements === null ? loadStepsMax(part.length) : unbounded
      const before = this.#steps
      const startedAt = performance.now()
      try {
        this.#within({ doc, stepsMax, placements, mergesNothing }, () => apply(doc, part))
      } catch (cause) {
        doc.destroy()
        if (cause instanceof IntegrationTooExpensiveError) throw new DocumentExpensiveError(cause)
        throw new DocumentDamagedError(
          new CorruptRecordError(`Yjs cannot read it: ${errorMessage(cause)}`, { cause }),
        )
      }
      this.#loadSteps += this.#steps - before
      this.#loadMs += performance.now() - startedAt
    }
    return { doc, read }
  }

  /** Replaces the bytes with the Y.Doc that was created from them. */
  #open(doc: Y.Doc): Y.Doc {
    doc.clientID = this.#writer
    this.#doc = doc
    this.#bytes = nothing
    this.#placements = null
    this.#structs = structsOf(doc)
    this.#values = longestRow(doc)
    return doc
  }

  #applyWaiting(doc: Y.Doc): void {
    if (this.#waiting.count === 0) return
    const joined = this.#waiting.joined()
    // If Yjs throws here, the updates keep waiting: the document must not continue without updates that are
    // already stored and sent.
    this.#within({ doc, stepsMax: integrationStepsMax }, () => Y.applyUpdate(doc, joined))
    this.#clearWaiting()
    this.#waitingMax = waitingMax
    this.#structs = structsOf(doc)
  }

  #clearWaiting(): void {
    this.#waiting.clear()
    this.#waitingSteps = null
    this.#waitingStructs = 0
    this.#waitingDeletions = 0
  }

  #within<T>(budget: Pick<Budget, 'doc' | 'stepsMax'> & Partial<Budget>, work: () => T): T {
    const stepsMax = this.isBounded ? budget.stepsMax : unbounded
    return withinBudget({ placements: null, found: null, ...budget, stepsMax }, work, ({ steps }) => {
      this.#steps += steps
    })
  }

  /** Returns whether a client with these clocks has the whole document, except possibly deletions. */
  #isCovered(clocks: ReadonlyMap<number, number>): boolean {
    for (const [client, clock] of this.clocks) if ((clocks.get(client) ?? 0) < clock) return false
    return true
  }

  /** Returns all deletions of the kept bytes as an update; null if they cannot be separated. */
  #deletions(): Uint8Array | null {
    this.#structsEnd ??= joinUpdates([this.#bytes])?.structsEnd ?? null
    if (this.#structsEnd === null) return null
    return Buffer.concat([noStructs, this.#bytes.subarray(this.#structsEnd)])
  }

  /**
   * Adds the bytes of an update to the size, and raises the upper bounds of the numbers of structs and values. Each
   * struct has at least two bytes. `predict` counts the structs exactly before an update is treated as expensive.
   */
  #grow(update: Uint8Array, values = update.length): void {
    const bytes = update.length
    this.#sizeBytes += bytes
    this.#addedBytes += bytes
    this.#structs += Math.ceil(bytes / 2)
    this.#values += values
    this.#revision += 1
    if (this.#opened !== null) this.#keepOpened(this.#opened, update)
  }

  #keepOpened(opened: OpenedBytes, update: Uint8Array): void {
    // The update may be a view into a larger buffer.
    opened.later.push(new Uint8Array(update))
    opened.laterBytes += update.length
    if (opened.later.length > laterMax || opened.laterBytes > opened.bytes.length / 8) this.#opened = null
  }

  #capture<T>(change: (doc: Y.Doc) => T): Captured<T> {
    const captured = captureUpdate(this.doc, change, this.#values)
    if (captured.added !== null) this.#grow(captured.added)
    return captured
  }
}

/**
 * Returns the positions of the items of a whole state (V1), in the form that `Placements` accepts. Do not
 * call it on an event loop.
 */
export function placementsIn(bytes: Uint8Array): readonly number[] {
  const doc = new Y.Doc(noGuid)
  skipObservers(doc)
  const found: number[] = []
  const budget: Budget = { doc, stepsMax: unbounded, placements: null, found }
  withinBudget(
    budget,
    () => applyIntegrable(doc, bytes),
    () => {},
  )
  doc.destroy()
  return found
}

interface Captured<T> {
  readonly result: T
  readonly added: Uint8Array | null
  readonly isDear: boolean
  /** True if the change has deleted content that existed before; formatting marks are not content. */
  readonly deletes: boolean
}

/** Returns the number of values in the item with the most values. */
function longestRow({ store }: Y.Doc): number {
  let longest = 0
  for (const structs of store.clients.values())
    for (const item of structs)
      if (item instanceof Y.Item) longest = Math.max(longest, valuesIn(item.content))
  return longest
}

/**
 * Minimum size in bytes of a state whose encoding is kept for other callers. For a smaller state, encoding
 * again costs no more than keeping the result.
 */
const keptFrom = 65_536

const unbounded = Number.POSITIVE_INFINITY
const nothing = new Uint8Array(0)
const noStructs = Uint8Array.of(0)
const randomClient = (): number => randomInt(2 ** 32)

/**
 * Runs `change` in one transaction. Returns its result, and the update that describes the change (null if
 * nothing changed). An update listener costs more than applying an update, so it is only registered for
 * changes that need it.
 * @param values upper bound of the values in one item
 */
function captureUpdate<T>(doc: Y.Doc, change: (doc: Y.Doc) => T, values: number): Captured<T> {
  const updates: Uint8Array[] = []
  let isDear = false
  let deletes = false
  const listener = (update: Uint8Array): void => void updates.push(update)
  doc.on('update', listener)
  try {
    const result = doc.transact((transaction) => {
      const changed = change(doc)
      const deleted = deletedItems(transaction)
      isDear =
        deleted > deletedFrom ||
        deleted * structsOf(doc) > dearFrom ||
        // Each deletion may split the item with the most values.
        deleted * values > integrationStepsMax
      deletes = hasDeletedContent(transaction)
      return changed
    })
    return {
      result,
      isDear,
      deletes,
      added: updates.length > 1 ? Y.mergeUpdates(updates) : (updates[0] ?? null),
    }
  } finally {
    doc.off('update', listener)
  }
}

/**
 * Returns whether a transaction has deleted content that existed before: text, embeds, elements, and values of entries
 * and attributes that it has replaced. Call it before the transaction ends, as `deletedItems`.
 */
function hasDeletedContent({ deleteSet, beforeState, doc }: Y.Transaction): boolean {
  for (const [client, deleted] of deleteSet.clients) {
    const end = beforeState.get(client) ?? 0
    const isContent = ({ clock }: { readonly clock: number }): boolean =>
      clock < end && Y.getItem(doc.store, Y.createID(client, clock)).countable
    if (deleted.some(isContent)) return true
  }
  return false
}

/**
 * Returns the number of items that a transaction has deleted. This is correct only before the transaction
 * ends, because until then each deleted item has a separate entry.
 */
const deletedItems = ({ deleteSet }: Y.Transaction): number =>
  [...deleteSet.clients.values()].reduce((sum, entries) => sum + entries.length, 0)
