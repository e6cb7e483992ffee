import { ByteReader, clockMax } from './byte-reader.ts'
import { hasOrigin, hasParentSub, hasRightOrigin, skipContent, struct } from './item-content.ts'
import { MalformedUpdateError } from './malformed.ts'
import { partsOfClient, rangesPerStep, type Steps } from './outline.ts'
import type { StoredId } from './range-index.ts'
import type { StructBlock, UpdateSummary } from './summary.ts'

/** The place of a struct in the block of its client. */
export interface StructPlace {
  /** Number of structs before it. */
  readonly index: number
  /** Offset of its bytes in the update. */
  readonly start: number
}

/** An item of an update, without its content. */
export interface ReadItem extends StoredId {
  readonly length: number
  /** The lower five bits of the info byte of the item. */
  readonly kind: number
  readonly origin: StoredId | null
  readonly rightOrigin: StoredId | null
  /**
   * The root name or the parent id that the item contains. Null if the item contains neither, because it has
   * the same parent as its origins.
   */
  readonly parent: string | StoredId | null
  /** Key of a map entry; null if the item contains no key. */
  readonly parentSub: string | null
  readonly at: StructPlace
}

/**
 * Receives the structs and deletions of an update, which the summary does not contain, in the order of the
 * bytes.
 */
export interface UpdateListener {
  item(item: ReadItem): void
  gc?(client: number, clock: number, at: StructPlace): void
  skip?(client: number, clock: number, length: number, at: StructPlace): void
  deletion?(client: number, clock: number, length: number): void
}

/**
 * The flags of items that may be map entries. An item without these flags is an element of a list. An item
 * with an origin is of the same kind (element or entry) as its origin.
 */
const mayBeEntry = hasOrigin | hasRightOrigin | hasParentSub

/**
 * Maximum number of structs, and maximum number of deleted ranges, in one update. Yjs creates an object for
 * each of them, which is many times larger than its bytes.
 */
export const structsMax = 1_000_000
/**
 * Maximum number of clients in one update. The number is limited because Yjs copies the clocks of all clients
 * of the document in every later transaction.
 */
export const clientsMax = 100_000

/**
 * Reads and vets a Yjs update (V1) without creating a document. Rejects bytes that no legitimate client
 * sends. Yjs itself accepts such bytes, and then throws, loops or stores data that it cannot load again. The
 * work is limited by the number of bytes. Checks that depend on the document are separate: the nesting of
 * types and the entries of maps (`checkPlaces`), and missing structs (`isPlain`).
 * @throws MalformedUpdateError
 */
export const readUpdate = (bytes: Uint8Array, listener: UpdateListener | null = null): UpdateSummary =>
  new UpdateReader(bytes, listener).readAll()

/**
 * Like `readUpdate`, in steps between which other work can run. The values of one item are read in one step.
 * @throws MalformedUpdateError
 */
export function* readUpdateSteps(bytes: Uint8Array): Steps<UpdateSummary> {
  const reader = new UpdateReader(bytes, null)
  for (;;) {
    const summary = reader.read(rangesPerStep)
    if (summary !== null) return summary
    yield
  }
}

/** Reads a whole state (V1) like an update, but with any number of parts. @throws MalformedUpdateError */
export const readState = (bytes: Uint8Array, listener: UpdateListener): UpdateSummary =>
  new UpdateReader(bytes, listener, noCountLimits).readAll()

interface CountLimits {
  readonly values: number
  readonly structs: number
  readonly clients: number
  readonly subdocuments: number
}

/**
 * Maximum number of subdocuments in one document, and in one update. For each subdocument, Yjs creates a document that
 * takes more than 2 KB.
 */
export const subdocumentsMax = 10_000

/**
 * Maximum number of values in one update: elements of lists and nested values. An array or object counts
 * as two, and a JSON text in a list as four.
 * Yjs creates all values of an item at once, which cannot be split into ticks.
 */
export const valuesMax = 1_000_000

const countLimits: CountLimits = {
  values: valuesMax,
  structs: structsMax,
  clients: clientsMax,
  subdocuments: subdocumentsMax,
}
const noCountLimits: CountLimits = {
  values: Number.POSITIVE_INFINITY,
  structs: Number.POSITIVE_INFINITY,
  clients: Number.POSITIVE_INFINITY,
  subdocuments: Number.POSITIVE_INFINITY,
}

const noBlocks: readonly StructBlock[] = []
const noNumbers: readonly number[] = []

class UpdateReader extends ByteReader {
  readonly #listener: UpdateListener | null
  readonly #max: CountLimits
  // Each array is created with its first element, because the update of a keystroke needs only `#clients`.
  #clients: StructBlock[] | null = null
  #needs: number[] | null = null
  #skippedTo: number[] | null = null
  #deletedTo: number[] | null = null
  #longRuns = 0
  #structs = 0
  #deletes = 0
  #deletesInOrder = true
  #types = 0
  #subdocuments = 0
  #values = 0
  /** Number of structs, values and deleted ranges that this step may still read. */
  #partsLeft = 0
  /** Number of clients whose structs, or later whose deleted ranges, are not read; null before they are counted. */
  #clientsLeft: number | null = null
  /** The client whose structs are read; its `structs` are those that it has in total. */
  #client = 0
  #clientStructs = 0
  #clientFrom = 0
  #clientStart = 0
  #clock = 0
  #skips = false
  #structsEnd: number | null = null
  /** The client whose deleted ranges are read, and the number of those that are not read. */
  #rangesLeft = 0
  #rangesEnd = 0
  #deletingClients: number[] | null = null
  #structIndex = 0
  #structStart = 0
  // The parts of the current item, for the listener.
  #origin: StoredId | null = null
  #rightOrigin: StoredId | null = null
  #parent: string | StoredId | null = null
  #parentSub: string | null = null

  constructor(bytes: Uint8Array, listener: UpdateListener | null, max = countLimits) {
    super(bytes, { valuesMax: max.values })
    this.#listener = listener
    this.#max = max
  }

  readAll(): UpdateSummary {
    return this.read(Number.POSITIVE_INFINITY) as UpdateSummary
  }

  /** Reads about `partsMax` further parts. Returns null if there are more. */
  read(partsMax: number): UpdateSummary | null {
    this.#partsLeft = partsMax
    this.#structsEnd ??= this.#readClients()
    if (this.#structsEnd === null || !this.#readDeleteSet()) return null
    if (this.left > 0) throw new MalformedUpdateError('bytes follow the end of the update')
    return {
      clients: this.#clients ?? noBlocks,
      needs: this.#needs ?? noNumbers,
      skippedTo: this.#skippedTo ?? noNumbers,
      deletedTo: this.#deletedTo ?? noNumbers,
      structs: this.#structs,
      structsEnd: this.#structsEnd,
      deletes: this.#deletes,
      deletesInOrder: this.#deletesInOrder,
      types: this.#types,
      values: this.#values,
      longRuns: this.#longRuns,
    }
  }

  /** Returns the offset after the structs of all clients; null if the step ends before. */
  #readClients(): number | null {
    this.#clientsLeft ??= this.count(3, this.#max.clients)
    while (this.#clientsLeft > 0) {
      if (this.#clientStructs === 0) this.#beginClient()
      if (!this.#readStructs()) return null
      this.#clientsLeft -= 1
    }
    this.#clientsLeft = null
    const clients = this.#clients ?? []
    if (clients.length > 1) assertDistinct(clients.map((block) => block.client))
    return this.at
  }

  #beginClient(): void {
    const structs = this.count(2, this.#max.structs - this.#structs)
    // Yjs would replace another block of the same client by this empty block.
    if (structs === 0) throw new MalformedUpdateError('a client has no structs')
    this.#client = this.varUint()
    this.#clock = this.clock()
    this.#clientFrom = this.#clock
    this.#clientStart = this.at
    this.#clientStructs = structs
    this.#structIndex = 0
    this.#skips = false
    this.#partsLeft -= partsOfClient
  }

  /** Reads the structs of a client. Returns false if the step ends before. */
  #readStructs(): boolean {
    const client = this.#client
    const structs = this.#clientStructs
    let clock = this.#clock
    for (let index = this.#structIndex; index < structs; index++) {
      this.#structIndex = index
      if (this.#partsLeft <= 0) {
        this.#clock = clock
        return false
      }
      this.#partsLeft -= 1
      this.#structStart = this.at
      const info = this.byte()
      const length = this.#readStruct(info, client, clock)
      if (length === 0) throw new MalformedUpdateError('a struct is empty')
      clock += length
      if ((info & 31) === struct.skip) {
        this.#skips = true
        this.#skippedTo ??= []
        this.#skippedTo.push(client, clock)
        this.#listener?.skip?.(client, clock - length, length, this.#structPlace())
      }
      if (clock > clockMax) throw new MalformedUpdateError('a clock is too large')
    }
    this.#structs += structs
    this.#clientStructs = 0
    const block: StructBlock = {
      client,
      from: this.#clientFrom,
      to: clock,
      skips: this.#skips,
      structs,
      start: this.#clientStart,
      end: this.at,
    }
    if (this.#clients === null) this.#clients = [block]
    else this.#clients.push(block)
    return true
  }

  /** Reads a struct. Returns its length in clocks. */
  #readStruct(info: number, client: number, clock: number): number {
    const kind = info & 31
    if (kind === struct.gc || kind === struct.skip) {
      // Yjs has two functions that read structs, and they read such bytes differently.
      if (info !== kind)
        throw new MalformedUpdateError('a gc or skip struct has flags that only items may have')
      if (kind === struct.gc) this.#listener?.gc?.(client, clock, this.#structPlace())
      return this.clock()
    }
    this.#readPlace(info, client, clock)
    const length = skipContent(this, kind)
    if (kind === struct.type || kind === struct.doc) this.#types += 1
    if (kind === struct.any || kind === struct.json) {
      this.#values += length
      this.#partsLeft -= length
    } else if (kind === struct.doc && ++this.#subdocuments > this.#max.subdocuments)
      throw new MalformedUpdateError(`it has more than ${subdocumentsMax} subdocuments`)
    if (length > 1 && kind !== struct.deleted && (info & mayBeEntry) !== 0) this.#longRuns += 1
    this.#listener?.item({
      client,
      clock,
      length,
      kind,
      origin: this.#origin,
      rightOrigin: this.#rightOrigin,
      parent: this.#parent,
      parentSub: this.#parentSub,
      at: this.#structPlace(),
    })
    return length
  }

  #structPlace(): StructPlace {
    return { index: this.#structIndex, start: this.#structStart }
  }

  /** Reads the origins and the parent of an item. Creates objects for them only if there is a listener. */
  #readPlace(info: number, client: number, clock: number): void {
    this.#origin = null
    this.#rightOrigin = null
    this.#parent = null
    this.#parentSub = null
    if ((info & hasOrigin) !== 0) this.#origin = this.#readId(client, clock)
    if ((info & hasRightOrigin) !== 0) this.#rightOrigin = this.#readId(client, clock)
    if ((info & (hasOrigin | hasRightOrigin)) === 0) this.#readParent(info, client, clock)
  }

  #readParent(info: number, client: number, clock: number): void {
    const parent = this.varUint()
    if (parent > 1) throw new MalformedUpdateError('a parent is neither a root nor an item')
    if (parent === 1) this.#parent = this.#readName()
    else this.#parent = this.#readId(client, clock)
    if ((info & hasParentSub) !== 0) this.#parentSub = this.#readName()
  }

  /**
   * Reads the name of a root or the key of a map entry. Returns null if there is no listener. Yjs accepts any
   * name, including an empty one.
   */
  #readName(): string | null {
    const start = this.at
    this.skipString()
    if (this.#listener === null) return null
    this.at = start
    return this.string(Number.POSITIVE_INFINITY)
  }

  /** Reads an id to which an item refers. Rejects an id of the same client that does not precede the item. */
  #readId(ofClient: number, ofClock: number): StoredId | null {
    const client = this.varUint()
    const clock = this.clock()
    if (client === ofClient) {
      if (clock >= ofClock) throw new MalformedUpdateError('an item refers to itself or to a later one')
    } else {
      this.#needs ??= []
      need(this.#needs, client, clock + 1)
    }
    return this.#listener === null ? null : { client, clock }
  }

  /** Reads the deleted ranges of all clients. Returns false if the step ends before. */
  #readDeleteSet(): boolean {
    if (this.#clientsLeft === null) {
      this.#clientsLeft = this.count(2, this.#max.clients)
      if (this.#clientsLeft > 1) this.#deletingClients = []
    }
    while (this.#clientsLeft > 0 || this.#rangesLeft > 0) {
      if (this.#partsLeft <= 0) return false
      if (this.#rangesLeft === 0) this.#beginRanges(this.#clientsLeft)
      this.#readRanges()
    }
    if (this.#deletingClients !== null) assertDistinct(this.#deletingClients)
    return true
  }

  #beginRanges(clientsLeft: number): void {
    this.#clientsLeft = clientsLeft - 1
    this.#client = this.varUint()
    this.#deletingClients?.push(this.#client)
    this.#rangesLeft = this.count(2, this.#max.structs - this.#deletes)
    this.#deletes += this.#rangesLeft
    this.#rangesEnd = 0
    this.#partsLeft -= partsOfClient
  }

  #readRanges(): void {
    const client = this.#client
    const ranges = Math.min(this.#rangesLeft, Math.max(this.#partsLeft, 0))
    let end = this.#rangesEnd
    for (let range = 0; range < ranges; range++) {
      const from = this.clock()
      const length = this.clock()
      if (from < end) this.#deletesInOrder = false
      end = Math.max(end, from + length)
      if (end > clockMax || length === 0) throw new MalformedUpdateError('a deleted range is out of bounds')
      this.#listener?.deletion?.(client, from, length)
    }
    this.#rangesEnd = end
    this.#partsLeft -= ranges
    this.#rangesLeft -= ranges
    if (this.#rangesLeft > 0 || end === 0) return
    this.#deletedTo ??= []
    this.#deletedTo.push(client, end)
  }
}

/**
 * Rejects a list in which a client appears twice, because Yjs would replace the first block of the client by
 * the second.
 */
function assertDistinct(clients: readonly number[]): void {
  // Yjs writes the clients in descending order. To sort numbers takes a third of the time of a set of them.
  const isDescending = clients.every(
    (client, index) => index === 0 || client < (clients[index - 1] as number),
  )
  if (isDescending) return
  const sorted = Float64Array.from(clients).sort()
  if (sorted.some((client, index) => client === sorted[index - 1]))
    throw new MalformedUpdateError('a client appears twice')
}

/**
 * Adds a dependency to `needs`. Consecutive items often refer to the same client, so they share one pair with
 * the highest clock.
 */
function need(needs: number[], client: number, clock: number): void {
  const last = needs.length - 2
  if (last < 0 || needs[last] !== client) needs.push(client, clock)
  else if ((needs[last + 1] as number) < clock) needs[last + 1] = clock
}
