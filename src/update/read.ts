import { limits } from '../model/limits.ts'
import { readContent, struct, type VettingOptions } from './content.ts'
import { MalformedUpdate } from './malformed.ts'
import { ByteReader, clockMax } from './reader.ts'
import type { ClientBlock, UpdateSummary } from './summary.ts'
import { ValueRow } from './value-row.ts'

/** Where an item says that it belongs. */
export type ItemPlace =
  | { readonly kind: 'root' }
  /** Inside the type that this item holds. */
  | { readonly kind: 'parent'; readonly client: number; readonly clock: number }
  /** Beside this item, in the same type. */
  | { readonly kind: 'sibling'; readonly client: number; readonly clock: number }

/** Told of every item, by those who need more than the summary. */
export type ItemListener = (
  client: number,
  clock: number,
  length: number,
  isType: boolean,
  place: ItemPlace,
) => void

const hasOrigin = 0x80
const hasRightOrigin = 0x40
const hasParentSub = 0x20
/** An item with neither of these is an element of a list; one with an origin is what its origin is. */
const mayBeEntry = hasOrigin | hasRightOrigin | hasParentSub
const rootPlace: ItemPlace = { kind: 'root' }

/** Structs, and deleted ranges, of one update: Yjs makes an object of each, many times as large as its bytes. */
export const structsMax = 1_000_000
/** Clients of one update. Every later transaction copies the clocks of all clients of the document. */
export const clientsMax = 100_000

/**
 * Reads a Yjs update (V1) without making anything of it, and refuses what no legitimate client sends: Yjs itself
 * takes such bytes, and then throws, loops or stores what it can't load again. Bounded by the length of the bytes.
 * Not seen here, because it depends on the document: how deep types are nested (`checkNesting`), what is an entry of a
 * map (`checkEntries`), and what is missing (`isPlain`).
 * @throws MalformedUpdate
 */
export function readUpdate(
  bytes: Uint8Array,
  options: VettingOptions,
  onItem: ItemListener | null = null,
): UpdateSummary {
  return new UpdateReader(bytes, options, onItem).read()
}

const noBlocks: readonly ClientBlock[] = []
const noNumbers: readonly number[] = []

class UpdateReader extends ByteReader {
  readonly #options: VettingOptions
  readonly #onItem: ItemListener | null
  // Made when there is something to put into them: a keystroke has none of them but a client.
  #clients: ClientBlock[] | null = null
  #needs: number[] | null = null
  #deletedTo: number[] | null = null
  #longRuns: number[] | null = null
  #row: ValueRow | null = null
  #structs = 0
  #deletes = 0
  #types = 0
  /** Clock of the id read last if it is of the same client, else -1. */
  #lastOwnClock = -1
  /** Clock of the origin if it is of the same client, else -1. */
  #ownOrigin = -1

  constructor(bytes: Uint8Array, options: VettingOptions, onItem: ItemListener | null) {
    super(bytes)
    this.#options = options
    this.#onItem = onItem
  }

  read(): UpdateSummary {
    const clients = this.count(3, clientsMax)
    for (let index = 0; index < clients; index++) this.#readClient()
    if (clients > 1) assertDistinct((this.#clients ?? []).map((block) => block.client))
    const structsEnd = this.at
    this.#readDeleteSet()
    if (this.left > 0) throw new MalformedUpdate('something follows its end')
    return {
      clients: this.#clients ?? noBlocks,
      needs: this.#needs ?? noNumbers,
      deletedTo: this.#deletedTo ?? noNumbers,
      structs: this.#structs,
      structsEnd,
      deletes: this.#deletes,
      types: this.#types,
      longRuns: this.#longRuns ?? noNumbers,
    }
  }

  #readClient(): void {
    const structs = this.count(2, structsMax - this.#structs)
    // Yjs would let such a block replace another one of the same client.
    if (structs === 0) throw new MalformedUpdate('a client has no structs')
    const client = this.varUint()
    const from = this.clock()
    const start = this.at
    let clock = from
    let skips = false
    for (let index = 0; index < structs; index++) {
      const info = this.byte()
      const length = this.#readStruct(info, client, clock)
      if (length === 0) throw new MalformedUpdate('a struct is empty')
      if ((info & 31) === struct.skip) skips = true
      clock += length
      if (clock > clockMax) throw new MalformedUpdate('a clock is too large')
    }
    this.#structs += structs
    const block: ClientBlock = { client, from, to: clock, skips, structs, start, end: this.at }
    if (this.#clients === null) this.#clients = [block]
    else this.#clients.push(block)
  }

  /** Length of the struct in clocks. */
  #readStruct(info: number, client: number, clock: number): number {
    const kind = info & 31
    if (kind === struct.gc || kind === struct.skip) {
      // Yjs' two readers disagree about such bytes.
      if (info !== kind) throw new MalformedUpdate('a run has flags of an item')
      return this.clock()
    }
    const place = this.#readPlace(info, client, clock)
    const length = readContent(this, kind, this.#options)
    if (kind === struct.type) this.#types += 1
    else if (kind === struct.any || kind === struct.json) this.#countJoined(kind, client, clock, length)
    if (length > 1 && kind !== struct.deleted && (info & mayBeEntry) !== 0) {
      this.#longRuns ??= []
      this.#longRuns.push(client, clock, clock + length)
    }
    this.#onItem?.(client, clock, length, kind === struct.type, place)
    return length
  }

  #countJoined(kind: number, client: number, clock: number, length: number): void {
    this.#row ??= new ValueRow()
    this.#row.add(kind, client, clock, length, this.#ownOrigin === clock - 1)
  }

  /** Origins and parent; only what says where the item belongs is returned, and only if somebody asks. */
  #readPlace(info: number, client: number, clock: number): ItemPlace {
    let place: ItemPlace | null = null
    this.#ownOrigin = -1
    if ((info & hasRightOrigin) !== 0 && (info & hasOrigin) === 0)
      place = this.#readId('sibling', client, clock)
    else if ((info & hasOrigin) !== 0) {
      place = this.#readId('sibling', client, clock)
      this.#ownOrigin = this.#lastOwnClock
      if ((info & hasRightOrigin) !== 0) this.#readId('sibling', client, clock)
    }
    if (place !== null) return place
    const parent = this.varUint()
    if (parent > 1) throw new MalformedUpdate('a parent is neither root nor item')
    const found = parent === 1 ? this.#readRoot() : this.#readId('parent', client, clock)
    if ((info & hasParentSub) !== 0) this.skipName(limits.nameLength)
    return found
  }

  #readRoot(): ItemPlace {
    this.skipName(limits.nameLength, true)
    return rootPlace
  }

  /** An item can only refer to what was there before it. */
  #readId(kind: 'parent' | 'sibling', ofClient: number, ofClock: number): ItemPlace {
    const client = this.varUint()
    const clock = this.clock()
    if (client === ofClient) {
      if (clock >= ofClock) throw new MalformedUpdate('an item refers to itself or to a later one')
      this.#lastOwnClock = clock
    } else {
      this.#lastOwnClock = -1
      this.#needs ??= []
      need(this.#needs, client, clock + 1)
    }
    return this.#onItem === null ? rootPlace : { kind, client, clock }
  }

  #readDeleteSet(): void {
    const clients = this.count(2, clientsMax)
    const seen: number[] | null = clients > 1 ? [] : null
    for (let index = 0; index < clients; index++) {
      const client = this.varUint()
      seen?.push(client)
      const ranges = this.count(2, structsMax - this.#deletes)
      let end = 0
      for (let range = 0; range < ranges; range++) {
        const from = this.clock()
        const length = this.clock()
        end = Math.max(end, from + length)
        if (end > clockMax || length === 0) throw new MalformedUpdate('a deleted range is out of bounds')
      }
      this.#deletes += ranges
      if (ranges === 0) continue
      this.#deletedTo ??= []
      this.#deletedTo.push(client, end)
    }
    if (seen !== null) assertDistinct(seen)
  }
}

/** Yjs would let the second block of a client replace the first. */
function assertDistinct(clients: readonly number[]): void {
  if (new Set(clients).size !== clients.length) throw new MalformedUpdate('a client appears twice')
}

/** Runs of items refer to the same client again and again: one pair is enough for a run. */
function need(needs: number[], client: number, clock: number): void {
  const last = needs.length - 2
  if (last < 0 || needs[last] !== client) needs.push(client, clock)
  else if ((needs[last + 1] as number) < clock) needs[last + 1] = clock
}
