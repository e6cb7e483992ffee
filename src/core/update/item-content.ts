import { type ByteReader, clockMax } from './byte-reader.ts'
import { MalformedUpdateError } from './malformed.ts'
import { skipAny, skipJson, skipSubdocumentOptions } from './values.ts'

/** Kinds of structs in the update encoding V1 of Yjs. The kind is in the lower five bits of the info byte. */
export const struct = {
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
} as const

/** Flags in the info byte of an item. An item with an origin contains no parent. */
export const hasOrigin = 0x80
export const hasRightOrigin = 0x40
export const hasParentSub = 0x20

/** Numbers of the shared types that have a name: XML element and XML hook. */
export const namedTypes = [3, 5]
const typeMax = 6

/**
 * Skips and vets the content of an item. Returns the length of the item in clocks, which may be 0.
 * @throws MalformedUpdateError
 */
export function skipContent(reader: ByteReader, kind: number): number {
  switch (kind) {
    case struct.string:
      return reader.skipString()
    case struct.deleted:
      return reader.clock()
    case struct.any:
    case struct.json:
      return readValues(reader, kind)
    case struct.format:
      reader.skipString()
      skipJson(reader)
      return 1
    case struct.type:
      return readType(reader)
    case struct.embed:
      skipJson(reader)
      return 1
    case struct.binary:
      reader.skip(reader.varUint())
      return 1
    case struct.doc:
      return readSubdocument(reader)
    default:
      throw new MalformedUpdateError(`unknown kind of content ${kind}`)
  }
}

/** Number of values as which a JSON text in a list counts, because it takes about as long to read. */
const valuesOfJson = 4

function readValues(reader: ByteReader, kind: number): number {
  const length = reader.count(1, clockMax)
  if (kind === struct.json) reader.countValues(length * valuesOfJson)
  for (let index = 0; index < length; index++) {
    if (kind === struct.any) skipAny(reader)
    else skipJson(reader, true)
  }
  return length
}

function readType(reader: ByteReader): number {
  const type = reader.varUint()
  if (type > typeMax) throw new MalformedUpdateError(`unknown shared type ${type}`)
  if (namedTypes.includes(type)) reader.skipString()
  return 1
}

function readSubdocument(reader: ByteReader): number {
  reader.skipString()
  skipSubdocumentOptions(reader)
  return 1
}
