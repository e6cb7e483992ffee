import * as Y from 'yjs'
import { type StructRun, writeUpdate } from '../update/join-updates.ts'
import { pushVarUint } from '../update/state-vector.ts'

/**
 * Error for a single value or embedded object that is larger than the maximum size of a part, and cannot be
 * split. The message is written for the operator.
 */
export class PartTooLargeError extends Error {
  override readonly name = 'PartTooLargeError'
}

export interface PartSizes {
  /**
   * Target size of a part in bytes; at least 128. A part exceeds this size only if it contains a value that
   * cannot be split.
   */
  readonly aimed: number
  /** Maximum size of a part in bytes; at least `aimed`. */
  readonly most: number
}

type Struct = Y.Item | Y.GC | Y.Skip

/**
 * Maximum overhead in bytes for each client in a part. It consists of the number of structs, the client id
 * and the clock.
 */
const runBytes = 15
/**
 * Maximum overhead in bytes of a part. It consists of the number of clients with structs and the number of
 * clients with deletions.
 */
const frameBytes = 10
const noDeletions = Uint8Array.of(0)

/**
 * Splits an update (V1) into parts. Together, the parts have the same effect on a document as the update. A
 * small update is not split. A struct is never in an earlier part than the structs that it depends on. If a
 * receiver applies the parts in order, no part therefore becomes pending. Deletions are in the last parts.
 * @param update update that `readUpdate` has vetted
 * @throws PartTooLargeError during the iteration, if a value is too large
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
      // Starts a new part if the next piece would exceed the target size, or if it would leave a gap in the
      // clocks of a client.
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

/** Yields the encoded pieces of a struct. While a piece is too large, it is split in half. */
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

/**
 * Splits an item in the same way as Yjs does. `item` becomes the left half, and the right half is returned.
 * Returns null if the item cannot be split.
 */
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

/**
 * Returns the position at which an item is split in half. The position is never inside a surrogate pair,
 * because Yjs would replace both halves of the pair.
 */
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

/**
 * Yields all structs. The structs of one client keep their order. Each struct comes after the structs of
 * other clients that it depends on.
 */
function* inOrder(structs: readonly Struct[]): Generator<Struct> {
  const queues = queuesOf(structs)
  for (const first of queues.keys()) {
    // Stack of clients whose structs are yielded up to the clock `until`. Each entry waits until the entry
    // above it is finished.
    const stack = [{ client: first, until: Number.POSITIVE_INFINITY }]
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const queue = queues.get(top.client)
      const struct = queue?.structs[queue.at]
      if (queue === undefined || struct === undefined || struct.id.clock > top.until) {
        stack.pop()
        continue
      }
      const needed = neededBy(struct, queues)
      // A cycle of dependencies occurs only in crafted updates. In this case the dependency is ignored.
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

/**
 * Returns the id of a struct of another client that this struct depends on and that has not been yielded yet.
 * Returns null if there is no such struct.
 */
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

/** Maximum size in bytes of one deleted range with its client id. */
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
