import * as Y from 'yjs'
import { type StructRun, writeUpdate } from '../update/join-updates.ts'
import { pushVarUint } from '../update/state-vector.ts'

/**
 * One value, or one embedded object, is larger than a part may be and cannot be split. The message is for the operator.
 */
export class PartTooLargeError extends Error {
  override readonly name = 'PartTooLargeError'
}

export interface PartSizes {
  /** Target size of a part in bytes, at least 128. Only a value that cannot be split makes a larger part. */
  readonly aimed: number
  /** Maximum size of a part in bytes; not less than `aimed`. */
  readonly most: number
}

type Struct = Y.Item | Y.GC | Y.Skip

/** Maximum bytes for each client of a part: the number of structs, the client id and the clock. */
const runBytes = 15
/** Maximum bytes of the two counts in an update: of clients with structs and of clients with deletions. */
const frameBytes = 10
const noDeletions = Uint8Array.of(0)

/**
 * Splits an update (V1) into parts with the same effect on a document; a small update stays as it is. Structs follow
 * those that they depend on, so that no part becomes pending if a receiver applies the parts in order. Deletions are
 * last.
 * @param update vetted by `readUpdate`
 * @throws PartTooLargeError during the iteration, for a value that is too large
 */
export function* splitUpdate(update: Uint8Array, sizes: PartSizes): Generator<Uint8Array> {
  if (update.length <= sizes.aimed) yield update
  else {
    const { structs, ds } = Y.decodeUpdate(update)
    yield* structParts(structs, sizes)
    yield* deletionParts(ds.clients, sizes.aimed)
  }
}

function* structParts(structs: readonly Struct[], sizes: PartSizes): Generator<Uint8Array> {
  let runs = new Map<number, StructRun>()
  let size = frameBytes
  for (const struct of inOrder(structs)) {
    for (const { bytes, clock, length } of piecesOf(struct, sizes)) {
      const { client } = struct.id
      const grown = size + bytes.length + (runs.has(client) ? 0 : runBytes)
      // A gap in the clocks of a client starts a new part.
      if (runs.size > 0 && (grown > sizes.aimed || (runs.get(client)?.to ?? clock) !== clock)) {
        yield writeUpdate(runs, noDeletions)
        runs = new Map()
        size = frameBytes
      }
      size += bytes.length + (runs.has(client) ? 0 : runBytes)
      const run = runs.get(client) ?? { from: clock, to: clock, structs: 0, parts: [] }
      runs.set(client, run)
      run.structs += 1
      run.to += length
      run.parts.push(bytes)
    }
  }
  if (runs.size > 0) yield writeUpdate(runs, noDeletions)
}

interface Piece {
  readonly bytes: Uint8Array
  readonly clock: number
  readonly length: number
}

/** Encodes a struct, in repeated halves if it is too large. */
function* piecesOf(struct: Struct, sizes: PartSizes): Generator<Piece> {
  if (struct instanceof Y.Skip) return
  const encoder = new Y.UpdateEncoderV1()
  struct.write(encoder, 0)
  const bytes = encoder.toUint8Array()
  const partBytes = frameBytes + runBytes + bytes.length
  const right = partBytes > sizes.aimed && struct instanceof Y.Item ? cutInHalf(struct) : null
  if (right !== null) {
    yield* piecesOf(struct, sizes)
    yield* piecesOf(right, sizes)
  } else if (partBytes <= sizes.most) yield { bytes, clock: struct.id.clock, length: struct.length }
  else throw new PartTooLargeError(`one value has ${bytes.length} bytes, more than one message can have`)
}

/** Cuts an item as Yjs does: keeps the left half and returns the right one. Returns null if the item cannot be cut. */
function cutInHalf(item: Y.Item): Y.Item | null {
  const { id, content, rightOrigin, parent, parentSub } = item
  const at = middleOf(item)
  if (at === 0) return null
  const origin = Y.createID(id.client, id.clock + at - 1)
  const rest = content.splice(at)
  item.length = at
  return new Y.Item(
    Y.createID(id.client, id.clock + at),
    null,
    origin,
    null,
    rightOrigin,
    parent,
    parentSub,
    rest,
  )
}

/** Returns the middle, but never inside a surrogate pair, because Yjs would replace both halves. */
function middleOf({ content, length }: Y.Item): number {
  const middle = length >> 1
  if (!(content instanceof Y.ContentString)) return middle
  const isInPair = /[\ud800-\udbff]/.test(content.str.charAt(middle - 1))
  return isInPair ? middle - 1 : middle
}

interface Queue {
  readonly structs: readonly Struct[]
  readonly end: number
  at: number
}

/** Yields the structs of each client in order, and each struct after those of other clients that it depends on. */
function* inOrder(structs: readonly Struct[]): Generator<Struct> {
  const queues = queuesOf(structs)
  for (const first of queues.keys()) {
    // Stack of clients and the clocks to reach; each entry waits for the one above it.
    const stack = [{ client: first, until: Number.POSITIVE_INFINITY }]
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const queue = queues.get(top.client)
      const struct = queue?.structs[queue.at]
      if (queue === undefined || struct === undefined || struct.id.clock > top.until) {
        stack.pop()
        continue
      }
      const needed = neededBy(struct, queues)
      // Only crafted updates contain cycles.
      if (needed !== null && !stack.some(({ client }) => client === needed.client))
        stack.push({ client: needed.client, until: needed.clock })
      else {
        queue.at += 1
        yield struct
      }
    }
  }
}

function queuesOf(structs: readonly Struct[]): ReadonlyMap<number, Queue> {
  const grouped = groupedBy(structs, ({ id }) => id.client)
  return new Map(
    [...grouped].map(([client, own]) => {
      const last = own.at(-1)
      return [client, { structs: own, end: last === undefined ? 0 : last.id.clock + last.length, at: 0 }]
    }),
  )
}

/** Returns the id of a remaining struct that this one depends on; null if there is none. */
function neededBy(struct: Struct, queues: ReadonlyMap<number, Queue>): Y.ID | null {
  if (!(struct instanceof Y.Item)) return null
  for (const id of [struct.origin, struct.rightOrigin, struct.parent]) {
    if (!(id instanceof Y.ID) || id.client === struct.id.client) continue
    const queue = queues.get(id.client)
    if (queue === undefined || id.clock >= queue.end) continue
    const next = queue.structs[queue.at]
    if (next !== undefined && id.clock >= next.id.clock) return id
  }
  return null
}

/** Maximum bytes of a range with its client. */
const rangeBytes = 20

function* deletionParts(
  clients: ReadonlyMap<number, readonly { readonly clock: number; readonly len: number }[]>,
  bytesMax: number,
): Generator<Uint8Array> {
  const rangesMax = Math.floor((bytesMax - frameBytes) / rangeBytes)
  const all = [...clients].flatMap(([client, ranges]) => ranges.map((range) => ({ client, ...range })))
  for (let at = 0; at < all.length; at += rangesMax) {
    const byClient = groupedBy(all.slice(at, at + rangesMax), ({ client }) => client)
    const bytes: number[] = []
    pushVarUint(bytes, byClient.size)
    for (const [client, ranges] of byClient) {
      pushVarUint(bytes, client)
      pushVarUint(bytes, ranges.length)
      for (const { clock, len } of ranges) {
        pushVarUint(bytes, clock)
        pushVarUint(bytes, len)
      }
    }
    yield writeUpdate(new Map(), Uint8Array.from(bytes))
  }
}

function groupedBy<T>(all: readonly T[], keyOf: (one: T) => number): Map<number, T[]> {
  const groups = new Map<number, T[]>()
  for (const one of all) {
    const group = groups.get(keyOf(one))
    if (group === undefined) groups.set(keyOf(one), [one])
    else group.push(one)
  }
  return groups
}
