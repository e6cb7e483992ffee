import { limits } from '../model/limits.ts'
import { MalformedUpdate } from './malformed.ts'
import { ByteReader, clockMax } from './reader.ts'
import type { ClientBlock, UpdateSummary } from './summary.ts'
import { skipAny, skipJson } from './values.ts'

export interface VettingOptions {
  readonly allowSubdocuments: boolean
}

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

/** Structs of Yjs' update encoding V1, by the lower five bits of their info byte. */
const struct = {
  gc: 0,
  deleted: 1,
  json: 2,
  binary: 3,
  string: 4,
  embed: 5,
  format: 6,
  type: 7,
  any: 8,
  doc: 9,
  skip: 10,
}
const hasOrigin = 0x80
const hasRightOrigin = 0x40
const hasParentSub = 0x20
/** Element and hook: the shared types that carry a name. */
const namedTypes = [3, 5]
const typeMax = 6

const rootPlace: ItemPlace = { kind: 'root' }

/**
 * Reads a Yjs update (V1) without making anything of it, and refuses what no legitimate client sends: Yjs itself
 * takes such bytes, and then throws, loops or stores what it can't load again. Bounded by the length of the bytes.
 * Not seen here: how deep types are nested (`checkNesting`), and what is missing (`isPlain`).
 * @throws MalformedUpdate
 */
export function readUpdate(
  bytes: Uint8Array,
  options: VettingOptions,
  onItem: ItemListener | null = null,
): UpdateSummary {
  return new UpdateReader(bytes, options, onItem).read()
}

class UpdateReader extends ByteReader {
  readonly #options: VettingOptions
  readonly #onItem: ItemListener | null
  readonly #clients: ClientBlock[] = []
  readonly #needs: number[] = []
  readonly #deletedTo: number[] = []
  #structs = 0
  #deletes = 0
  #types = 0

  constructor(bytes: Uint8Array, options: VettingOptions, onItem: ItemListener | null) {
    super(bytes)
    this.#options = options
    this.#onItem = onItem
  }

  read(): UpdateSummary {
    const clients = this.#count(3)
    for (let index = 0; index < clients; index++) this.#readClient()
    if (clients > 1) assertDistinct(this.#clients.map((block) => block.client))
    this.#readDeleteSet()
    if (this.left > 0) throw new MalformedUpdate('something follows its end')
    return {
      clients: this.#clients,
      needs: this.#needs,
      deletedTo: this.#deletedTo,
      structs: this.#structs,
      deletes: this.#deletes,
      types: this.#types,
    }
  }

  /** How many of something follow, each of at least `bytesEach`. */
  #count(bytesEach: number): number {
    const count = this.varUint()
    if (count * bytesEach > this.left) throw new MalformedUpdate('it ends in the middle')
    return count
  }

  #readClient(): void {
    const structs = this.#count(2)
    const client = this.varUint()
    const from = this.clock()
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
    if (structs > 0) this.#clients.push({ client, from, to: clock, skips })
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
    const length = this.#readContent(kind)
    if (kind === struct.type) this.#types += 1
    this.#onItem?.(client, clock, length, kind === struct.type, place)
    return length
  }

  /** Origins and parent; only what says where the item belongs is returned, and only if somebody asks. */
  #readPlace(info: number, client: number, clock: number): ItemPlace {
    let place: ItemPlace | null = null
    if ((info & hasRightOrigin) !== 0 && (info & hasOrigin) === 0)
      place = this.#readId('sibling', client, clock)
    else if ((info & hasOrigin) !== 0) {
      place = this.#readId('sibling', client, clock)
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
    } else need(this.#needs, client, clock + 1)
    return this.#onItem === null ? rootPlace : { kind, client, clock }
  }

  #readContent(kind: number): number {
    switch (kind) {
      case struct.string:
        return this.skipString()
      case struct.deleted:
        return this.clock()
      case struct.format:
        this.skipName(limits.nameLength)
        skipJson(this)
        return 1
      case struct.type:
        return this.#readType()
      case struct.any:
        return this.#readList(() => skipAny(this))
      case struct.json:
        return this.#readList(() => skipJson(this, true))
      case struct.embed:
        skipJson(this)
        return 1
      case struct.binary:
        this.skip(this.varUint())
        return 1
      case struct.doc:
        return this.#readSubdocument()
      default:
        throw new MalformedUpdate(`unknown kind of content ${kind}`)
    }
  }

  #readType(): number {
    const type = this.varUint()
    if (type > typeMax) throw new MalformedUpdate(`unknown shared type ${type}`)
    if (namedTypes.includes(type)) this.skipName(limits.nameLength)
    return 1
  }

  #readList(readOne: () => void): number {
    const length = this.#count(1)
    for (let index = 0; index < length; index++) readOne()
    return length
  }

  #readSubdocument(): number {
    if (!this.#options.allowSubdocuments) throw new MalformedUpdate('subdocuments are not allowed here')
    this.skipName(limits.nameLength)
    if (this.bytes[this.at] !== 118)
      throw new MalformedUpdate('the options of a subdocument are not an object')
    skipAny(this)
    return 1
  }

  #readDeleteSet(): void {
    const clients = this.#count(2)
    const seen: number[] = []
    for (let index = 0; index < clients; index++) {
      const client = this.varUint()
      seen.push(client)
      const ranges = this.#count(2)
      let end = 0
      for (let range = 0; range < ranges; range++) {
        const from = this.clock()
        const length = this.clock()
        end = Math.max(end, from + length)
        if (end > clockMax || length === 0) throw new MalformedUpdate('a deleted range is out of bounds')
      }
      this.#deletes += ranges
      if (ranges > 0) this.#deletedTo.push(client, end)
    }
    if (clients > 1) assertDistinct(seen)
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
