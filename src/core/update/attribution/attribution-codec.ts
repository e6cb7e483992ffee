import * as encoding from 'lib0/encoding'
import { readJsonOrNull } from '../../base/json.ts'
import {
  type ChangeMeta,
  type ChangeOrigin,
  changeMetaSchema,
  changeSources,
} from '../../model/change-origin.ts'
import { ByteReader, clockMax } from '../byte-reader.ts'
import { MalformedUpdateError } from '../malformed.ts'
import { partsOfClient, runSteps, StepMeter, type Steps } from '../outline.ts'
import type { AttributedRange, Attribution } from './attribution.ts'
import { authorKey, originsOf } from './attribution-builder.ts'

/** The first byte. It changes with the format. */
const formatVersion = 1

/**
 * Flags of a range, in the two lowest bits of its length. Without `gapped`, the range starts where the
 * previous range of the client ends. Without `listed`, the number of its origin is one higher than that of
 * the previous range, or the same after a gap: these are the usual cases of typing and of deleting.
 */
const gapped = 1
const listed = 2

/**
 * Encodes an attribution: the format, a table of authors, a table of origins in the order of their times, and
 * for each client its ranges in the order of their clocks. Clocks, times and numbers of origins are
 * differences from their predecessors. A range of typing takes two to three bytes.
 */
export const encodeAttribution = (attribution: Attribution): Uint8Array =>
  runSteps(encodeAttributionSteps(attribution))

/** Encodes as `encodeAttribution`, in steps between which other work can run. */
export function* encodeAttributionSteps(attribution: Attribution): Steps<Uint8Array> {
  const encoder = encoding.createEncoder()
  encoding.writeUint8(encoder, formatVersion)
  const numbers = writeOrigins(encoder, originsOf(attribution))
  const step = new StepMeter()
  for (const lists of [attribution.inserted, attribution.deleted]) {
    encoding.writeVarUint(encoder, lists.size)
    for (const [client, ranges] of lists) {
      encoding.writeVarUint(encoder, client)
      yield* writeRanges(encoder, ranges, numbers, step)
      if (step.isOver(partsOfClient)) yield
    }
  }
  return encoding.toUint8Array(encoder)
}

/** Writes the tables of authors and origins. Returns the number of each origin. */
function writeOrigins(
  encoder: encoding.Encoder,
  used: ReadonlySet<ChangeOrigin>,
): ReadonlyMap<ChangeOrigin, number> {
  const origins = [...used].sort((a, b) => a.at - b.at)
  const authors = new Map<string, { number: number; first: ChangeOrigin }>()
  for (const origin of origins) {
    const author = authorKey(origin)
    if (!authors.has(author)) authors.set(author, { number: authors.size, first: origin })
  }
  encoding.writeVarUint(encoder, authors.size)
  for (const { first } of authors.values()) {
    encoding.writeVarString(encoder, first.by)
    encoding.writeUint8(encoder, changeSources.indexOf(first.source))
    encoding.writeVarString(encoder, first.meta === null ? '' : JSON.stringify(first.meta))
  }
  encoding.writeVarUint(encoder, origins.length)
  const numbers = new Map<ChangeOrigin, number>()
  let before = 0
  for (const [number, origin] of origins.entries()) {
    numbers.set(origin, number)
    encoding.writeVarUint(encoder, authors.get(authorKey(origin))?.number ?? 0)
    encoding.writeVarUint(encoder, origin.at - before)
    before = origin.at
  }
  return numbers
}

function* writeRanges(
  encoder: encoding.Encoder,
  ranges: readonly AttributedRange[],
  numbers: ReadonlyMap<ChangeOrigin, number>,
  step: StepMeter,
): Steps<void> {
  encoding.writeVarUint(encoder, ranges.length)
  let clock = 0
  let number = 0
  for (const { clock: from, length, origin } of ranges) {
    if (step.isOver(1)) yield
    const own = numbers.get(origin) ?? 0
    const gap = from - clock
    const flags = (gap > 0 ? gapped : 0) | (own === usualNumber(number, gap > 0) ? 0 : listed)
    encoding.writeVarUint(encoder, length * 4 + flags)
    if (gap > 0) encoding.writeVarUint(encoder, gap)
    if ((flags & listed) !== 0) encoding.writeVarUint(encoder, zigzag(own - number))
    clock = from + length
    number = own
  }
}

const usualNumber = (before: number, isGapped: boolean): number => (isGapped ? before : before + 1)
const zigzag = (value: number): number => (value < 0 ? -2 * value - 1 : 2 * value)
const unzigzag = (value: number): number => (value % 2 === 1 ? -(value + 1) / 2 : value / 2)

/**
 * Decodes an attribution. Time and memory are linear in the number of bytes. Equal origins of the encoded
 * attribution are the same object.
 * @throws MalformedUpdateError
 */
export const decodeAttribution = (bytes: Uint8Array): Attribution => runSteps(decodeAttributionSteps(bytes))

/** Decodes as `decodeAttribution`, in steps between which other work can run. */
export function* decodeAttributionSteps(bytes: Uint8Array): Steps<Attribution> {
  const reader = new ByteReader(bytes)
  const version = reader.byte()
  if (version !== formatVersion) throw new MalformedUpdateError(`unknown format ${version}`)
  const origins = readOrigins(reader)
  const inserted = yield* readLists(reader, origins)
  const deleted = yield* readLists(reader, origins)
  if (reader.left > 0) throw new MalformedUpdateError('bytes follow the end of the attribution')
  return { inserted, deleted }
}

function readOrigins(reader: ByteReader): readonly ChangeOrigin[] {
  const authors: Omit<ChangeOrigin, 'at'>[] = []
  for (let left = reader.count(3, Number.POSITIVE_INFINITY); left > 0; left--) {
    const by = reader.string(Number.POSITIVE_INFINITY)
    const source = changeSources[reader.byte()]
    if (source === undefined) throw new MalformedUpdateError('unknown source of a change')
    authors.push({ by, source, meta: metaOf(reader.string(Number.POSITIVE_INFINITY)) })
  }
  const origins: ChangeOrigin[] = []
  let at = 0
  for (let left = reader.count(2, Number.POSITIVE_INFINITY); left > 0; left--) {
    const author = authors[reader.varUint()]
    if (author === undefined) throw new MalformedUpdateError('a change has an unknown author')
    at += reader.varUint()
    origins.push({ by: author.by, at, source: author.source, meta: author.meta })
  }
  return origins
}

function metaOf(text: string): ChangeMeta | null {
  if (text === '') return null
  const meta = readJsonOrNull(changeMetaSchema, text)
  if (meta === null) throw new MalformedUpdateError('the data of a change is not an object of plain values')
  return meta
}

function* readLists(
  reader: ByteReader,
  origins: readonly ChangeOrigin[],
): Steps<ReadonlyMap<number, readonly AttributedRange[]>> {
  const lists = new Map<number, readonly AttributedRange[]>()
  const step = new StepMeter()
  for (let left = reader.count(2, Number.POSITIVE_INFINITY); left > 0; left--) {
    const client = reader.varUint()
    if (lists.has(client)) throw new MalformedUpdateError('a client appears twice')
    lists.set(client, yield* readRanges(reader, origins, step))
    if (step.isOver(partsOfClient)) yield
  }
  return lists
}

function* readRanges(
  reader: ByteReader,
  origins: readonly ChangeOrigin[],
  step: StepMeter,
): Steps<readonly AttributedRange[]> {
  const ranges: AttributedRange[] = []
  let end = 0
  let number = 0
  for (let left = reader.count(1, Number.POSITIVE_INFINITY); left > 0; left--) {
    const head = reader.varUint()
    const isGapped = (head & gapped) !== 0
    const clock = isGapped ? end + reader.clock() : end
    number = (head & listed) !== 0 ? number + unzigzag(reader.varUint()) : usualNumber(number, isGapped)
    const length = Math.floor(head / 4)
    end = clock + length
    const origin = origins[number]
    if (length === 0 || end > clockMax) throw new MalformedUpdateError('a range is out of bounds')
    if (origin === undefined) throw new MalformedUpdateError('a range has an unknown origin')
    ranges.push({ clock, length, origin })
    if (step.isOver(1)) yield
  }
  return ranges
}
