import { randomInt } from 'node:crypto'
import * as Y from 'yjs'
import { createDoc } from '../../content/yjs/create-doc.ts'
import { CorruptRecordError } from '../../engine/engine.ts'
import { errorMessage } from '../../errors.ts'
import {
  type Budget,
  IntegrationTooExpensiveError,
  Placements,
  skipObservers,
  structsOf,
  valuesIn,
  withinBudget,
} from '../../update/integration.ts'
import { type Joined, joinUpdates } from '../../update/join-updates.ts'
import { predictSteps } from '../../update/predict-steps.ts'
import { readStateVector, writeStateVector } from '../../update/state-vector.ts'
import { advance, isEmpty, type UpdateSummary } from '../../update/summary.ts'
import { DocumentExpensiveError } from './expensive-documents.ts'
import { IncomingBuffer } from './incoming-buffer.ts'
import { integrationStepsMax, loadStepsMax, loopStepsMax, predictedStructsMax } from './integration-limits.ts'
import { DocumentDamagedError } from './quarantine.ts'

/** An update (V1) without content. An up-to-date client sends it as its SyncStep2. */
export const emptyUpdate = new Uint8Array(2)

/**
 * Number of updates that share the cost of one transaction. A larger number gains nothing and is slow if adjacent items
 * merge: at the end of a transaction Yjs joins lists of values pairwise. So 4,000 pushes of 30 numbers take 5.8 s in
 * one transaction, and 52 ms with this limit.
 */
const updatesPerTransaction = 64

/** Number of plain updates that wait to be applied in one transaction. A read of the Y.Doc applies them earlier. */
const waitingMax = updatesPerTransaction

/**
 * Maximum number of waiting updates, also if one tick brings more. The time of Yjs grows faster than the number of
 * updates that are joined.
 */
const mostWaiting = 512

/**
 * A random limit for the first transaction: rooms that were opened together must not all apply their updates in the
 * same tick.
 */
const firstWaitingMax = (): number => randomInt(waitingMax / 2, waitingMax)

/** A client and the clock of its next item. */
export interface ClientClock {
  readonly client: number
  readonly clock: number
}

/**
 * Clients remembered as writers of working copies. Replacements with base versions of their own reuse them, so they do
 * not add clients to the state.
 */
const mergersMax = 16

/**
 * Deleted items times items of the document that Yjs handles in about 25 ms: for each item that it joins to its
 * neighbour it shifts all behind it.
 */
const dearFrom = 20_000_000

/** Deleted items that take Yjs about 10 ms. */
const deletedFrom = 5_000

export interface IntegrationResult {
  /** The new part, as an update of its own; null if all of it was known. */
  readonly added: Uint8Array | null
  /** True when part of it depends on updates that are not here. That part was left out. */
  readonly gap: boolean
  /** True if applying the update to such a document takes too long on an event loop. */
  readonly isDear: boolean
}

export interface StateOptions {
  /** The places of the items in the bytes, if a conflict scan is too expensive for an event loop. */
  readonly placements?: Placements | null
  /** Default true: work that holds up an event loop for too long is refused. False on threads and in commands. */
  readonly isBounded?: boolean
}

/** An update that was integrated into a copy of the document. */
export interface PlacedIntegration extends IntegrationResult {
  /** The places of its items, in the form that `Placements` takes. */
  readonly placements: readonly number[]
  /**
   * The whole state (V1) after the update if reading it is faster than applying the update, because the update deletes
   * much; otherwise null.
   */
  readonly state: Uint8Array | null
  /** Why the update is malformed, as only the document shows; null: it is not. */
  readonly problem: string | null
}

/**
 * The content of one document: as a Y.Doc while it is worked on, as bytes while it is only handed out (a Y.Doc
 * costs many times the memory of its bytes). Nothing pending is ever kept inside.
 */
export class DocumentState {
  /** Next expected clock of each client. */
  readonly clocks: Map<number, number>
  /**
   * Clients that write on a working copy that is merged later. A client is reused if that is safe, because each one
   * stays in the state of the document permanently.
   */
  readonly #mergers = new Set([randomClient()])
  /**
   * The client that edits the document itself. It is never a merger: Yjs takes updates of its own client for a mistake.
   */
  readonly #writer = randomClient()
  #doc: Y.Doc | null
  /** Updates that the Y.Doc, or the bytes, lack still. */
  readonly #waiting = new IncomingBuffer()
  #waitingStructs = 0
  #waitingMax = firstWaitingMax()
  /**
   * The whole state, if there is no Y.Doc. `joined`: it was joined from several parts, and Yjs would encode it smaller.
   */
  #bytes: Uint8Array
  #form: 'encoded' | 'joined' = 'encoded'
  /** The offset of the delete set in `#bytes`; null: not known. */
  #structsEnd: number | null = null
  /** Size when last encoded, plus all bytes added since: an upper bound, as merging only shrinks. */
  #sizeBytes: number
  #addedBytes = 0
  /** An upper bound of the structs of the document. */
  #structs: number
  /** An upper bound of the values in one row; only known with a Y.Doc. */
  #values = 0
  /** The places of the items of `#bytes`, found on a thread; null: a conflict scan finds them. */
  #placements: Placements | null
  /** Steps that Yjs needed to read the document, and for the updates since. */
  #steps = 0
  /** The part of them that was needed to read the document. */
  #loadSteps = 0
  /** Milliseconds that reading the document has taken. */
  #loadMs = 0

  /** Whether the document is worked on by an event loop, whose other work must not wait. */
  readonly isBounded: boolean
  /** Grows with each change. */
  #revision = 0
  /**
   * The last result of `encode`, as long as a caller keeps it: many callers may read a large document simultaneously.
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

  /**
   * @param bytes a whole state, as `Y.encodeStateAsUpdate` makes it; null for an empty document
   */
  static fromBytes(bytes: Uint8Array | null, options: StateOptions = {}): DocumentState {
    const whole = bytes ?? emptyUpdate
    return new DocumentState(whole, joinUpdates([whole]), options)
  }

  /**
   * Returns the state of a stored snapshot, or null, and the updates after it, kept as bytes. Returns null if they
   * cannot be joined as bytes: then the caller must make a Y.Doc.
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

  /** The Y.Doc with all updates. A read first applies the waiting ones. */
  get doc(): Y.Doc {
    const doc = this.#doc ?? this.#makeDoc()
    this.#applyWaiting(doc)
    return doc
  }

  /**
   * Steps, at most, to integrate a vetted update; infinite for one that is too large to predict here. Above
   * `loopStepsMax` a thread must do the conflict scans.
   * @throws DocumentDamagedError, DocumentExpensiveError
   */
  predict(bytes: Uint8Array, summary: UpdateSummary): number {
    if (this.isInexpensive(summary)) return 0
    if (this.isBounded && summary.structs > predictedStructsMax) return unbounded
    this.#structs = structsOf(this.doc)
    return this.isInexpensive(summary) ? 0 : predictSteps(bytes, this.doc)
  }

  /** Returns whether the update cannot take more than `loopStepsMax`, regardless of the items that it refers to. */
  isInexpensive({ structs, deletes }: UpdateSummary): boolean {
    return (structs + 2 * deletes) * this.#stepsOfPart(structs) <= loopStepsMax
  }

  /** Maximum steps of a struct or a deleted range: a conflict scan over all structs, and two splits. */
  #stepsOfPart(structs: number): number {
    return this.#structs + structs + 2 * (this.#doc === null ? 0 : this.#values)
  }

  /** Steps that were needed to read the document, and for the updates since. */
  get steps(): number {
    return this.#steps
  }

  /** Milliseconds that reading the document has taken: edits do not pay for it. */
  get loadMs(): number {
    return this.#loadMs
  }

  /** Whether conflict scans in this document hold up an event loop: copies of it are made on threads only. */
  get isExpensive(): boolean {
    return this.#placements !== null || this.#loadSteps > loadStepsMax(this.#sizeBytes) / 2
  }

  /** Another number after each change. */
  get revision(): number {
    return this.#revision
  }

  /** Returns whether this number of further structs may wait. All waiting structs are integrated together. */
  #mayWait(structs: number): boolean {
    const parts = this.#waitingStructs + structs
    if (this.#doc === null && parts * this.#sizeBytes > integrationStepsMax) return false
    return parts * this.#stepsOfPart(parts) <= loopStepsMax
  }

  /** @throws DocumentDamagedError if Yjs cannot read the stored bytes; DocumentExpensiveError */
  check(): void {
    this.#doc ??= this.#makeDoc()
  }

  /** Keeps the bytes and lets the Y.Doc go. */
  drop(): void {
    // An expensive document would have to be read on a thread again.
    if (this.bytes === null && !this.isExpensive) this.become(this.encode())
  }

  /**
   * Applies updates that are known to fit exactly (`isPlain`), many in a transaction: a third of the cost of one
   * transaction each. `clocks` are advanced by the caller.
   */
  applyPlain(updates: readonly { readonly bytes: Uint8Array }[]): void {
    const { doc } = this
    for (let start = 0; start < updates.length; start += updatesPerTransaction) {
      const together = updates.slice(start, start + updatesPerTransaction)
      this.#within({ doc, stepsMax: integrationStepsMax }, () =>
        doc.transact(() => {
          for (const { bytes } of together) Y.applyUpdate(doc, bytes)
        }),
      )
    }
    for (const { bytes } of updates) this.#grow(bytes.length)
  }

  /**
   * Stores the updates and applies them later, because a transaction is the most expensive part of an edit. The updates
   * must be simple (`isSimple`), so that Yjs accepts them: they are stored and sent before they are applied. The caller
   * must call `applyDue` afterwards.
   */
  applyLater(updates: readonly { readonly bytes: Uint8Array; readonly summary: UpdateSummary }[]): void {
    for (const { bytes, summary } of updates) {
      const structs = summary.structs + 2 * summary.deletes
      if (this.#waiting.count >= mostWaiting || !this.#mayWait(structs)) void this.doc
      this.#waiting.add(bytes, summary)
      this.#waitingStructs += structs
      this.#grow(bytes.length, summary.values)
    }
    if (!this.#mayWait(0)) void this.doc
  }

  /** True if enough updates wait to be worth a transaction. */
  get isDue(): boolean {
    return this.#waiting.count >= this.#waitingMax
  }

  /** Applies the waiting updates if there are enough for a transaction. */
  applyDue(): void {
    if (this.isDue) this.#applyWaiting(this.#doc ?? this.#makeDoc())
  }

  /**
   * Applies any vetted update. Known parts are skipped, and parts that depend on a missing update are left out. The
   * known part is cut off first, because Yjs throws if a known run was collected and the update claims more of it.
   */
  integrate(bytes: Uint8Array): IntegrationResult {
    const unknown = Y.diffUpdate(bytes, this.vector())
    const { doc } = this
    const { store } = doc
    const { added, isDear } = this.#within({ doc, stepsMax: integrationStepsMax }, () =>
      this.#capture(() => Y.applyUpdate(doc, unknown)),
    )
    const gap = store.pendingStructs !== null || store.pendingDs !== null
    store.pendingStructs = null
    store.pendingDs = null
    return { added, gap, isDear }
  }

  /**
   * Integrates on a thread, in a copy of the document, and notes where the items belong: `takePlaced` then needs no
   * conflict scan.
   * @param stepsMax for reading the document and integrating the update together
   * @throws IntegrationTooExpensiveError
   */
  placeItems(bytes: Uint8Array, stepsMax: number): Omit<PlacedIntegration, 'problem' | 'state'> {
    const { doc } = this
    const { store } = doc
    const found: number[] = []
    let placedSteps = 0
    const unknown = Y.diffUpdate(bytes, this.vector())
    const budget: Budget = { doc, stepsMax: stepsMax - this.#steps, placements: null, found }
    const { added, isDear } = withinBudget(
      budget,
      () => this.#capture(() => Y.applyUpdate(doc, unknown)),
      ({ steps, scanned }) => {
        this.#steps += steps
        placedSteps = steps - scanned
      },
    )
    const gap = store.pendingStructs !== null || store.pendingDs !== null
    store.pendingStructs = null
    store.pendingDs = null
    return { added, gap, isDear: isDear || placedSteps > loopStepsMax, placements: found }
  }

  /** Applies the update that a thread has added to a copy of this state of the document. */
  takePlaced(
    added: Uint8Array,
    { placements, state }: Pick<PlacedIntegration, 'placements' | 'state'>,
  ): void {
    if (state !== null) return this.become(state)
    const { doc } = this
    const budget = { doc, stepsMax: integrationStepsMax, placements: new Placements(placements) }
    this.#within(budget, () => Y.applyUpdate(doc, added))
    this.#grow(added.length)
  }

  /**
   * Lets `change` edit the document in one transaction; `added` is the resulting update, or null if nothing changed.
   */
  edit<T>(change: (doc: Y.Doc) => T): Captured<T> {
    return this.#capture(change)
  }

  /** The clients that may write on a working copy, and their next clocks. */
  get mergers(): readonly ClientClock[] {
    return [...this.#mergers].map((client) => ({ client, clock: this.clocks.get(client) ?? 0 }))
  }

  /** Remembers who has written on a copy that was merged. */
  keepMerger(client: number): void {
    if (this.#mergers.size < mergersMax) this.#mergers.add(client)
  }

  /**
   * Lets this working copy write as one of `writers` whose clock matches the copy. Any other of them has written more
   * elsewhere, and its clock would be used twice. If none matches, a new client writes. Returns the writer.
   */
  writeAs(writers: readonly ClientClock[]): ClientClock {
    const { doc } = this
    const writer = writers.find(({ client, clock }) => Y.getState(doc.store, client) === clock)
    if (writer !== undefined) doc.clientID = writer.client
    return { client: doc.clientID, clock: Y.getState(doc.store, doc.clientID) }
  }

  /**
   * Replaces the state by one that a thread made from this state and an update. If much was deleted, reading the new
   * state takes a fraction of the time of that update: Yjs shifts all items for each item that it joins to another.
   */
  become(bytes: Uint8Array): void {
    this.#doc?.destroy()
    this.#doc = null
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

  /** Adds an update that `integrate` or `edit` returned to the clocks. */
  advance(summary: UpdateSummary): void {
    advance(summary, this.clocks)
  }

  /** Reads the clocks of updates that `applyPlain` has applied without `advance`. */
  recount(): void {
    const counted = Y.decodeStateVector(Y.encodeStateVector(this.doc))
    for (const [client, clock] of counted) this.clocks.set(client, clock)
  }

  /** Returns the update that a client with this state vector lacks; the whole state for null. */
  diff(vector: Uint8Array | null): Uint8Array {
    if (vector === null || vector.length <= 1) return this.bytes ?? this.encode()
    if (this.bytes !== null && this.#isCovered(readStateVector(vector)))
      return this.#deletions() ?? this.#diff(vector)
    return this.#diff(vector)
  }

  /**
   * Returns whether the update is certainly known, without making a Y.Doc. It is, for example, if an up-to-date client
   * offers it.
   */
  isKnown(bytes: Uint8Array, { structs, structsEnd }: UpdateSummary): boolean {
    if (this.bytes === null || structs > 0) return false
    const deletions = this.#deletions()
    return deletions !== null && Buffer.compare(bytes.subarray(structsEnd), deletions.subarray(1)) === 0
  }

  /** Returns whether the update contains nothing new. Expensive if it deletes something: call it rarely. */
  contains(bytes: Uint8Array, summary: UpdateSummary): boolean {
    if (isEmpty(summary) || this.isKnown(bytes, summary)) return true
    if (summary.clients.some(({ client, to }) => to > (this.clocks.get(client) ?? 0))) return false
    return summary.deletes === 0 || Y.snapshotContainsUpdate(Y.snapshot(this.doc), bytes)
  }

  vector(): Uint8Array {
    return writeStateVector(this.clocks)
  }

  /** The whole state, if it is kept as bytes at the moment. */
  get bytes(): Uint8Array | null {
    return this.#doc === null && this.#waiting.count === 0 ? this.#bytes : null
  }

  /**
   * The whole state in two parts, if there is no Y.Doc: bytes, and one update with the changes that the bytes lack
   * (null: none).
   */
  get parts(): { readonly bytes: Uint8Array; readonly waiting: Uint8Array | null } | null {
    if (this.#doc !== null) return null
    return { bytes: this.#bytes, waiting: this.#waiting.count === 0 ? null : this.#waiting.joined() }
  }

  /** The whole state. */
  encode(): Uint8Array {
    if (this.bytes !== null && this.#form === 'encoded') return this.#bytes
    const known = this.#encoded?.revision === this.#revision ? this.#encoded.bytes.deref() : undefined
    if (known !== undefined) return known
    const bytes = Y.encodeStateAsUpdate(this.doc)
    this.#sizeBytes = bytes.length
    this.#addedBytes = 0
    if (bytes.length >= keptFrom) this.#encoded = { revision: this.#revision, bytes: new WeakRef(bytes) }
    return bytes
  }

  /**
   * Returns whether the document may grow by `bytes` without exceeding `bytesMax`. Before it returns false, it encodes
   * the state for an exact size if anything has changed since the last encoding. That is expensive, so each rejection
   * must end a socket.
   */
  hasRoomFor(bytes: number, bytesMax: number): boolean {
    if (this.#sizeBytes + bytes <= bytesMax) return true
    if (this.#addedBytes > 0) this.encode()
    return this.#sizeBytes + bytes <= bytesMax
  }

  /**
   * @throws DocumentDamagedError if Yjs cannot read the stored bytes; DocumentExpensiveError if reading takes too long
   * for this thread
   */
  #makeDoc(): Y.Doc {
    const doc = createDoc()
    skipObservers(doc)
    const before = this.#steps
    const startedAt = performance.now()
    const placements = this.#placements
    const stepsMax = placements === null ? loadStepsMax(this.#bytes.length) : unbounded
    try {
      this.#within({ doc, stepsMax, placements }, () => Y.applyUpdate(doc, this.#bytes))
    } catch (cause) {
      doc.destroy()
      if (cause instanceof IntegrationTooExpensiveError) throw new DocumentExpensiveError(cause)
      throw new DocumentDamagedError(
        new CorruptRecordError(`Yjs cannot read it: ${errorMessage(cause)}`, { cause }),
      )
    }
    doc.clientID = this.#writer
    this.#doc = doc
    this.#bytes = nothing
    this.#placements = null
    this.#structs = structsOf(doc)
    this.#values = longestRow(doc)
    this.#loadSteps = this.#steps - before
    this.#loadMs += performance.now() - startedAt
    return doc
  }

  #applyWaiting(doc: Y.Doc): void {
    if (this.#waiting.count === 0) return
    const joined = this.#waiting.joined()
    // If this fails, the updates keep waiting: the document must not continue without updates that are stored
    // and shown.
    this.#within({ doc, stepsMax: integrationStepsMax }, () => Y.applyUpdate(doc, joined))
    this.#clearWaiting()
    this.#waitingMax = waitingMax
    this.#structs = structsOf(doc)
  }

  #clearWaiting(): void {
    this.#waiting.clear()
    this.#waitingStructs = 0
  }

  #within<T>(
    budget: Pick<Budget, 'doc' | 'stepsMax'> & Partial<Pick<Budget, 'placements' | 'found'>>,
    work: () => T,
  ): T {
    const stepsMax = this.isBounded ? budget.stepsMax : unbounded
    return withinBudget({ placements: null, found: null, ...budget, stepsMax }, work, ({ steps }) => {
      this.#steps += steps
    })
  }

  #diff(vector: Uint8Array): Uint8Array {
    return Y.encodeStateAsUpdate(this.doc, vector)
  }

  /** Returns whether a client at `clocks` lacks nothing except, possibly, deletions. */
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

  /** Each struct has at least two bytes. The bound is made exact before an update is predicted to be expensive. */
  #grow(bytes: number, values = bytes): void {
    this.#sizeBytes += bytes
    this.#addedBytes += bytes
    this.#structs += Math.ceil(bytes / 2)
    this.#values += values
    this.#revision += 1
  }

  #capture<T>(change: (doc: Y.Doc) => T): Captured<T> {
    const captured = captureUpdate(this.doc, change)
    if (captured.added !== null) this.#grow(captured.added.length)
    return captured
  }
}

/** Finds where the items of a whole state (V1) belong, as `Placements` takes it. Not for an event loop. */
export function placementsIn(bytes: Uint8Array): readonly number[] {
  const doc = new Y.Doc()
  skipObservers(doc)
  const found: number[] = []
  const budget: Budget = { doc, stepsMax: unbounded, placements: null, found }
  withinBudget(
    budget,
    () => Y.applyUpdate(doc, bytes),
    () => {},
  )
  doc.destroy()
  return found
}

interface Captured<T> {
  readonly result: T
  readonly added: Uint8Array | null
  readonly isDear: boolean
}

/** Values in the longest row of values. */
function longestRow({ store }: Y.Doc): number {
  let longest = 0
  for (const structs of store.clients.values())
    for (const item of structs)
      if (item instanceof Y.Item) longest = Math.max(longest, valuesIn(item.content))
  return longest
}

/** Bytes of a state from which it is remembered: encoding a smaller one takes no longer than remembering it. */
const keptFrom = 65_536

const unbounded = Number.POSITIVE_INFINITY
const nothing = new Uint8Array(0)
const noStructs = Uint8Array.of(0)
const randomClient = (): number => randomInt(2 ** 32)

/**
 * Runs `change` in one transaction and returns the update that it made, or null if it changed nothing. A listener costs
 * more than the application of an update, so it is active only for changes that need it.
 */
function captureUpdate<T>(doc: Y.Doc, change: (doc: Y.Doc) => T): Captured<T> {
  const updates: Uint8Array[] = []
  let isDear = false
  const listener = (update: Uint8Array): void => void updates.push(update)
  doc.on('update', listener)
  try {
    const result = doc.transact((transaction) => {
      const changed = change(doc)
      const deleted = deletedItems(transaction)
      isDear = deleted > deletedFrom || deleted * structsOf(doc) > dearFrom
      return changed
    })
    return { result, isDear, added: updates.length > 1 ? Y.mergeUpdates(updates) : (updates[0] ?? null) }
  } finally {
    doc.off('update', listener)
  }
}

/** Before the transaction ends each has an entry of its own. */
const deletedItems = ({ deleteSet }: Y.Transaction): number =>
  [...deleteSet.clients.values()].reduce((sum, entries) => sum + entries.length, 0)
