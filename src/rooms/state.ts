import { randomInt } from 'node:crypto'
import * as Y from 'yjs'
import { CorruptRecord } from '../engine/engine.ts'
import { messageOf } from '../errors.ts'
import { type Joined, joinUpdates } from '../update/join.ts'
import { advance, isEmpty, type UpdateSummary } from '../update/summary.ts'
import { readStateVector, writeStateVector } from '../update/vector.ts'
import { DamagedDocument } from './quarantine.ts'
import { WaitingUpdates } from './waiting.ts'

/** An update (V1) without any content: what an up-to-date client sends as its SyncStep2. */
export const noUpdate = new Uint8Array(2)

/**
 * Enough to share the cost of a transaction. More gain nothing, and cost a lot where neighbours join: at the end of a
 * transaction Yjs joins lists of values pairwise, so 4,000 pushes of 30 numbers take 5.8 s together and 52 ms like this.
 */
const updatesPerTransaction = 64

/** So many plain updates wait to be applied together: what anything else asks for has them applied first. */
const waitingMax = updatesPerTransaction

/** However much comes in one turn: many that are joined to one another take Yjs more than their share of time. */
const mostWaiting = 512

/** Rooms that were opened together are not to apply what waits together, too. */
const firstWaitingMax = (): number => randomInt(waitingMax / 2, waitingMax)

/** A client and the clock of its next item. */
export interface ClientClock {
  readonly client: number
  readonly clock: number
}

/** Writers of copies that are remembered: as many take turns with bases of their own without adding to the state. */
const mergersMax = 16

/**
 * Deleted items times items of the document that Yjs handles in about 25 ms: for each item that it joins to its
 * neighbour it shifts all behind it.
 */
const dearFrom = 20_000_000

export interface Integrated {
  /** What was new, as an update of its own; null when everything was known already. */
  readonly added: Uint8Array | null
  /** True when part of it depends on updates that are not here. That part was left out. */
  readonly gap: boolean
  /** Would it take too long to apply the update to such a document on an event loop? */
  readonly isDear: boolean
}

/**
 * The content of one document: as a Y.Doc while it is worked on, as bytes while it is only handed out (a Y.Doc
 * costs many times the memory of its bytes). Nothing pending is ever kept inside.
 */
export class RoomState {
  /** Next expected clock of each client. */
  readonly clocks: Map<number, number>
  /**
   * Who writes when a copy is changed that is merged later. The same again where that is safe: each writer stays in the
   * document's state for ever.
   */
  readonly #mergers = new Set([randomClient()])
  /** Who writes when the document itself is changed. No merger: Yjs takes updates of its own client for a mistake. */
  readonly #writer = randomClient()
  #doc: Y.Doc | null
  /** Updates that the Y.Doc, or the bytes, lack still. */
  readonly #waiting = new WaitingUpdates()
  #waitingMax = firstWaitingMax()
  /** The whole state, where there is no Y.Doc; `joined`: of several parts, so that Yjs would make it smaller. */
  #bytes: Uint8Array
  #form: 'encoded' | 'joined' = 'encoded'
  /** Where what is deleted begins in `#bytes`; null: not known. */
  #structsEnd: number | null = null
  /** Size when last encoded, plus all bytes added since: an upper bound, as merging only shrinks. */
  #sizeBytes: number
  #addedBytes = 0

  private constructor(bytes: Uint8Array, joined: Joined | null) {
    this.#doc = null
    this.#bytes = bytes
    this.#sizeBytes = bytes.length
    this.#structsEnd = joined?.structsEnd ?? null
    this.clocks = joined?.clocks ?? Y.decodeStateVector(Y.encodeStateVectorFromUpdate(bytes))
  }

  /** @param bytes a whole state, as `Y.encodeStateAsUpdate` makes it; null for an empty document */
  static fromBytes(bytes: Uint8Array | null): RoomState {
    const whole = bytes ?? noUpdate
    return new RoomState(whole, joinUpdates([whole]))
  }

  /**
   * What is stored, as bytes: a snapshot, or null, and the updates after it. Null where these can't be put together
   * as they are: then a Y.Doc has to be made.
   */
  static fromStored(snapshot: Uint8Array | null, updates: readonly Uint8Array[]): RoomState | null {
    const joined = joinUpdates(snapshot === null ? updates : [snapshot, ...updates])
    if (joined === null) return null
    const state = new RoomState(joined.bytes, joined)
    if (updates.length > 0) state.#form = 'joined'
    state.#addedBytes = joined.bytes.length - (snapshot?.length ?? 0)
    return state
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** With all that has been applied or is waiting for it. */
  get doc(): Y.Doc {
    const doc = this.#doc ?? this.#makeDoc()
    this.#applyWaiting(doc)
    return doc
  }

  /** @throws DamagedDocument where Yjs cannot read what was stored */
  check(): void {
    this.#doc ??= this.#makeDoc()
  }

  /** Keeps the bytes and lets the Y.Doc go. */
  drop(): void {
    if (this.bytes === null) this.become(this.encode())
  }

  /**
   * Applies updates that are known to fit exactly (`isPlain`), many in a transaction: a third of the cost of one
   * transaction each. `clocks` are advanced by the caller.
   */
  applyPlain(updates: readonly { readonly bytes: Uint8Array }[]): void {
    applyAll(
      this.doc,
      updates.map(({ bytes }) => bytes),
    )
    for (const { bytes } of updates) this.#grow(bytes.length)
  }

  /**
   * Likewise, some time: a transaction costs more than all else that an edit costs here. Only for what Yjs takes for
   * sure (`isSimple`): it is stored and shown meanwhile. Whoever calls it calls `applyDue` then.
   */
  applyLater(updates: readonly { readonly bytes: Uint8Array; readonly summary: UpdateSummary }[]): void {
    for (const { bytes, summary } of updates) {
      this.#waiting.add(bytes, summary)
      this.#grow(bytes.length)
      if (this.#waiting.count >= mostWaiting) this.#applyWaiting(this.#doc ?? this.#makeDoc())
    }
  }

  /** Do so many wait that they are worth a transaction? */
  get isDue(): boolean {
    return this.#waiting.count >= this.#waitingMax
  }

  /** Applies what waits, if that is worth it. */
  applyDue(): void {
    if (this.isDue) this.#applyWaiting(this.#doc ?? this.#makeDoc())
  }

  /**
   * Applies any vetted update: known parts are skipped, parts that depend on something missing are left out. What is
   * known is cut off first, because Yjs throws where a known run was collected and the update claims more of it.
   */
  integrate(bytes: Uint8Array): Integrated {
    const unknown = Y.diffUpdate(bytes, this.vector())
    const { added, isDear } = this.#capture((doc) => Y.applyUpdate(doc, unknown))
    const { store } = this.doc
    const gap = store.pendingStructs !== null || store.pendingDs !== null
    store.pendingStructs = null
    store.pendingDs = null
    return { added, gap, isDear }
  }

  /** Lets `change` edit the document in one transaction; `added` is what it did, null when nothing. */
  edit<T>(change: (doc: Y.Doc) => T): Captured<T> {
    return this.#capture(change)
  }

  /** Those who may write on a copy, and where they left off. */
  get mergers(): readonly ClientClock[] {
    return [...this.#mergers].map((client) => ({ client, clock: this.clocks.get(client) ?? 0 }))
  }

  /** Remembers who has written on a copy that was merged. */
  keepMerger(client: number): void {
    if (this.#mergers.size < mergersMax) this.#mergers.add(client)
  }

  /**
   * Has this copy of a document written as one of `writers` that left off where the copy is: what others write here
   * would be taken for what they have written elsewhere. Without one it is somebody new. Returns who writes.
   */
  writeAs(writers: readonly ClientClock[]): ClientClock {
    const { doc } = this
    const writer = writers.find(({ client, clock }) => Y.getState(doc.store, client) === clock)
    if (writer !== undefined) doc.clientID = writer.client
    return { client: doc.clientID, clock: Y.getState(doc.store, doc.clientID) }
  }

  /**
   * Goes on with a state that was made elsewhere out of this one and an update: where much was deleted, reading it anew
   * takes a fraction of the time of applying that update (Yjs shifts all items for each that it joins to another).
   */
  become(bytes: Uint8Array): void {
    this.#doc?.destroy()
    this.#doc = null
    this.#waiting.clear()
    this.#bytes = bytes
    this.#form = 'encoded'
    this.#structsEnd = null
    this.#sizeBytes = bytes.length
    this.#addedBytes = 0
  }

  /** Counts an update that came out of `integrate` or `edit`. */
  advance(summary: UpdateSummary): void {
    advance(summary, this.clocks)
  }

  /** Counts what came by `applyPlain` without having been counted. */
  recount(): void {
    const counted = Y.decodeStateVector(Y.encodeStateVector(this.doc))
    for (const [client, clock] of counted) this.clocks.set(client, clock)
  }

  /** What a client with this state vector lacks; everything for null. */
  diff(vector: Uint8Array | null): Uint8Array {
    if (vector === null || vector.length <= 1) return this.bytes ?? this.encode()
    if (this.bytes !== null && this.#isCovered(readStateVector(vector)))
      return this.#deletions() ?? this.#diff(vector)
    return this.#diff(vector)
  }

  /** Is this update known for sure, without a Y.Doc? What a client offers that has what is here is. */
  isKnown(bytes: Uint8Array, { structs, structsEnd }: UpdateSummary): boolean {
    if (this.bytes === null || structs > 0) return false
    const deletions = this.#deletions()
    return deletions !== null && Buffer.compare(bytes.subarray(structsEnd), deletions.subarray(1)) === 0
  }

  /** Is there nothing in this update that is not here? Dear where it deletes something: ask seldom. */
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

  /** The whole state. */
  encode(): Uint8Array {
    if (this.bytes !== null && this.#form === 'encoded') return this.#bytes
    const bytes = Y.encodeStateAsUpdate(this.doc)
    this.#sizeBytes = bytes.length
    this.#addedBytes = 0
    return bytes
  }

  /**
   * Is there room for `bytes` more below `bytesMax`? Before it says no, the estimate is made exact by encoding, if
   * anything has changed since it was: each refusal ends a socket, so that this is not cheap to ask for.
   */
  hasRoomFor(bytes: number, bytesMax: number): boolean {
    if (this.#sizeBytes + bytes <= bytesMax) return true
    if (this.#addedBytes > 0) this.encode()
    return this.#sizeBytes + bytes <= bytesMax
  }

  /** @throws DamagedDocument where Yjs cannot read what was stored: nobody has tried before */
  #makeDoc(): Y.Doc {
    const doc = new Y.Doc()
    try {
      Y.applyUpdate(doc, this.#bytes)
    } catch (cause) {
      throw new DamagedDocument(new CorruptRecord(`Yjs cannot read it: ${messageOf(cause)}`, { cause }))
    }
    doc.clientID = this.#writer
    this.#doc = doc
    this.#bytes = nothing
    return doc
  }

  #applyWaiting(doc: Y.Doc): void {
    if (this.#waiting.count === 0) return
    // Still waiting where this fails: the document must not go on without what is stored and shown.
    Y.applyUpdate(doc, this.#waiting.joined())
    this.#waiting.clear()
    this.#waitingMax = waitingMax
  }

  #diff(vector: Uint8Array): Uint8Array {
    return Y.encodeStateAsUpdate(this.doc, vector)
  }

  /** Does whoever is at `clocks` lack nothing but, maybe, deletions? */
  #isCovered(clocks: ReadonlyMap<number, number>): boolean {
    for (const [client, clock] of this.clocks) if ((clocks.get(client) ?? 0) < clock) return false
    return true
  }

  /** Of the bytes that are kept, all deletions, as an update; null where they can't be told. */
  #deletions(): Uint8Array | null {
    this.#structsEnd ??= joinUpdates([this.#bytes])?.structsEnd ?? null
    if (this.#structsEnd === null) return null
    return Buffer.concat([noStructs, this.#bytes.subarray(this.#structsEnd)])
  }

  #grow(bytes: number): void {
    this.#sizeBytes += bytes
    this.#addedBytes += bytes
  }

  #capture<T>(change: (doc: Y.Doc) => T): Captured<T> {
    const captured = captureUpdate(this.doc, change)
    if (captured.added !== null) this.#grow(captured.added.length)
    return captured
  }
}

function applyAll(doc: Y.Doc, updates: readonly Uint8Array[]): void {
  for (let start = 0; start < updates.length; start += updatesPerTransaction) {
    const together = updates.slice(start, start + updatesPerTransaction)
    doc.transact(() => {
      for (const bytes of together) Y.applyUpdate(doc, bytes)
    })
  }
}

interface Captured<T> {
  readonly result: T
  readonly added: Uint8Array | null
  readonly isDear: boolean
}

const nothing = new Uint8Array(0)
const noStructs = Uint8Array.of(0)
const randomClient = (): number => randomInt(2 ** 32)

/**
 * Runs `change` in one transaction and returns the update that it made, null when it changed nothing. Listening costs
 * more than applying, so it is done only around what needs it.
 */
function captureUpdate<T>(doc: Y.Doc, change: (doc: Y.Doc) => T): Captured<T> {
  const updates: Uint8Array[] = []
  let isDear = false
  const listener = (update: Uint8Array): void => void updates.push(update)
  doc.on('update', listener)
  try {
    const result = doc.transact((transaction) => {
      const changed = change(doc)
      isDear = deletedItems(transaction) * itemsOf(doc) > dearFrom
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

const itemsOf = ({ store }: Y.Doc): number =>
  [...store.clients.values()].reduce((sum, structs) => sum + structs.length, 0)
