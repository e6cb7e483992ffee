import { ByteReader, clockMax } from './byte-reader.ts'
import { hasParentSub, skipContent, struct } from './item-content.ts'
import { MalformedUpdateError } from './malformed.ts'
import type { StructBlock, UpdateSummary } from './summary.ts'

/** The structs of each client in an update, with their offsets in the bytes. */
export type Outline = Pick<UpdateSummary, 'clients' | 'structsEnd'>

/** Receives the ids of an update as ranges of clocks: `from` is the first clock, `to` the clock after the last one. */
export interface IdListener {
  inserted(client: number, from: number, to: number): void
  /** Ids that the update deletes, or whose content it contains no more. Ranges may overlap. */
  deleted(client: number, from: number, to: number): void
}

/**
 * Minimum values of the info byte of an item: `oneOrigin` if it has at least one origin, `bothOrigins` if it
 * has two. Items with an origin contain no parent.
 */
const oneOrigin = 0x40
const bothOrigins = 0xc0

/**
 * Reads the outline of an update that was already vetted or that Yjs has written. Skips the places of the
 * items, and the deletions. This function is fast in the first read of each document after a start, when its
 * code is not compiled yet. It takes about half the time of `readUpdate`, because it makes few calls and does
 * not convert ids to numbers.
 * @throws MalformedUpdateError if the bytes are not one whole update; `readUpdate` rejects more
 */
export const readOutline = (bytes: Uint8Array): Outline => runSteps(readIds(bytes, null))

/**
 * Reads the outline and reports the ids of an update, in steps between which other work can run.
 * @throws MalformedUpdateError as `readOutline`
 */
export function* readIds(bytes: Uint8Array, listener: IdListener | null): Steps<Outline> {
  const reader = new ByteReader(bytes, { isVetted: true })
  const clients: StructBlock[] = []
  const step = new StepMeter()
  for (let left = reader.varUint(); left > 0; left--) {
    const block = yield* readBlock(reader, listener)
    clients.push(block)
    if (step.isOver(block.structs + partsOfClient)) yield
  }
  if (clients.length > 1 && new Set(clients.map(({ client }) => client)).size < clients.length)
    throw new MalformedUpdateError('a client appears twice')
  const structsEnd = reader.at
  for (let left = reader.varUint(); left > 0; left--) {
    const client = reader.varUint()
    const ranges = reader.varUint()
    if (listener === null) reader.at = afterNumbers(bytes, reader.at, 2 * ranges)
    else yield* readDeletions(reader, client, ranges, listener)
    if (step.isOver(ranges + partsOfClient)) yield
  }
  if (reader.left !== 0) throw new MalformedUpdateError('the bytes do not end where the update ends')
  return { clients, structsEnd }
}

function* readDeletions(
  reader: ByteReader,
  client: number,
  ranges: number,
  listener: IdListener,
): Steps<void> {
  for (let left = ranges; left > 0; left--) {
    if (left % rangesPerStep === 0) yield
    const from = reader.clock()
    const to = from + reader.clock()
    if (to === from || to > clockMax) throw new MalformedUpdateError('a deleted range is out of bounds')
    listener.deleted(client, from, to)
  }
}

function* readBlock(reader: ByteReader, listener: IdListener | null): Steps<StructBlock> {
  const structs = reader.varUint()
  const client = reader.varUint()
  const from = reader.clock()
  const start = reader.at
  if (structs === 0) throw new MalformedUpdateError('a client has no structs')
  let clock = from
  let runFrom = from
  let skips = false
  for (let left = structs; left > 0; left--) {
    if (left % rangesPerStep === 0) yield
    const info = reader.byte()
    const kind = info & 31
    const length = kind === struct.gc || kind === struct.skip ? reader.clock() : passItem(reader, info, kind)
    if (length === 0) throw new MalformedUpdateError('a struct is empty')
    if (clock + length > clockMax) throw new MalformedUpdateError('a clock is too large')
    if (kind === struct.skip) {
      skips = true
      if (clock > runFrom) listener?.inserted(client, runFrom, clock)
      runFrom = clock + length
    } else if (kind === struct.gc || kind === struct.deleted) {
      listener?.deleted(client, clock, clock + length)
    }
    clock += length
  }
  if (clock > runFrom) listener?.inserted(client, runFrom, clock)
  return { client, from, to: clock, skips, structs, start, end: reader.at }
}

/** Skips an item. Returns its length in clocks. */
function passItem(reader: ByteReader, info: number, kind: number): number {
  const { bytes } = reader
  if (info < oneOrigin) passParent(reader, info)
  else reader.at = afterNumbers(bytes, reader.at, info >= bothOrigins ? 4 : 2)
  if (kind !== struct.string) return skipContent(reader, kind)
  // Most strings are short and ASCII; such strings are skipped here, without a function call.
  const length = bytes[reader.at] as number
  let at = reader.at + 1
  const end = at + length
  if (length < 128) while (at < end && (bytes[at] as number) < 128) at += 1
  if (at !== end) return reader.skipString()
  reader.at = end
  return length
}

function passParent(reader: ByteReader, info: number): void {
  if (reader.varUint() === 1) reader.skipString()
  else reader.at = afterNumbers(reader.bytes, reader.at, 2)
  if ((info & hasParentSub) !== 0) reader.skipString()
}

/** Returns the offset after `count` variable-length numbers from `start`. */
function afterNumbers(bytes: Uint8Array, start: number, count: number): number {
  const { length } = bytes
  let at = start
  for (let left = count; left > 0; at++) {
    if (at >= length) throw new MalformedUpdateError('it ends in the middle')
    if ((bytes[at] as number) < 128) left -= 1
  }
  return at
}

/** Work in steps, whose generator returns the result. Other work can run after each step. */
export type Steps<T> = Generator<void, T, void>

/** Number of parts in one step, such as ranges, structs and values. A step takes about 1 ms. */
export const rangesPerStep = 8_192
/** A client takes about as long as this many ranges. */
export const partsOfClient = 8

/** Divides work into steps. */
export class StepMeter {
  #left = rangesPerStep

  /** Counts parts of the work. */
  add(parts: number): void {
    this.#left -= parts
  }

  /** Counts parts of the work. Returns whether the step is over, and then starts the next one. */
  isOver(parts: number): boolean {
    this.add(parts)
    if (this.#left > 0) return false
    this.#left = rangesPerStep
    return true
  }
}

/** Runs all steps at once. */
export function runSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}
