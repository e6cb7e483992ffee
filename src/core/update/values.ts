import { limits } from '../model/limits.ts'
import type { ByteReader } from './byte-reader.ts'
import { skipJsonText } from './json-text.ts'
import { MalformedUpdateError } from './malformed.ts'

/** Type bytes of values that `writeAny` of lib0 writes. */
const any = {
  array: 117,
  binary: 116,
  object: 118,
  string: 119,
  float64: 123,
  bigint: 122,
  float32: 124,
  integer: 125,
} as const
/** Type bytes of `undefined`, `null`, `false` and `true`. No bytes follow these type bytes. */
const constants = new Set([127, 126, 121, 120])

/** Maximum bytes of the name of an option of a subdocument. All known names are shorter. */
const optionBytesMax = 16

/**
 * A key that changes the prototype of a plain object when it is set. Yjs loses most values with this key. If
 * such a value is bytes, the object itself looks like bytes, and a Yjs document that has read it cannot be
 * encoded again.
 */
const prototypeKey = '__proto__'

/** Skips one value in the encoding of `writeAny`. The recursion is limited by the limit for nesting. */
export function skipAny(reader: ByteReader, depth = 0): void {
  reader.countValues(1)
  const type = reader.byte()
  if (constants.has(type)) return
  switch (type) {
    case any.integer:
      return reader.skipVarInt()
    case any.float32:
      return reader.skip(4)
    case any.float64:
    case any.bigint:
      return reader.skip(8)
    case any.string:
      return void reader.skipString()
    case any.binary:
      return reader.skip(reader.varUint())
    case any.array:
    case any.object:
      return skipMembers(reader, type === any.object, depth + 1)
    default:
      throw new MalformedUpdateError(`unknown kind of value ${type}`)
  }
}

function skipMembers(reader: ByteReader, keyed: boolean, depth: number): void {
  if (depth > limits.jsonDepth)
    throw new MalformedUpdateError(`values are nested deeper than ${limits.jsonDepth}`)
  // Yjs allocates an object, which takes about as long as two numbers.
  reader.countValues(1)
  const count = reader.varUint()
  if (count > reader.left) throw new MalformedUpdateError('it ends in the middle')
  for (let index = 0; index < count; index++) {
    if (keyed && skipKey(reader) && reader.bytes[reader.at] === any.binary)
      throw new MalformedUpdateError(
        `the value of the key ${prototypeKey} is bytes: Yjs could not encode it again`,
      )
    skipAny(reader, depth)
  }
}

/** Skips the key of a member. Returns whether the key is `prototypeKey`. */
function skipKey(reader: ByteReader): boolean {
  const start = reader.at
  reader.skipString()
  if (reader.at - start !== prototypeKey.length + 1) return false
  return Buffer.from(reader.bytes.subarray(start + 1, reader.at)).toString('latin1') === prototypeKey
}

/**
 * Names of the options that Yjs writes for a subdocument. With any other option, for example a second guid,
 * Yjs might not be able to write the subdocument again.
 */
const subdocumentOptions = ['gc', 'autoLoad', 'meta']

/** Skips and vets the options of a subdocument. */
export function skipSubdocumentOptions(reader: ByteReader): void {
  if (reader.byte() !== any.object)
    throw new MalformedUpdateError('the options of a subdocument are not an object')
  const count = reader.varUint()
  for (let index = 0; index < count; index++) {
    if (!subdocumentOptions.includes(reader.string(optionBytesMax))) {
      throw new MalformedUpdateError('unknown option of a subdocument')
    }
    skipAny(reader, 1)
  }
}

/**
 * Skips and vets a string that contains JSON, as in formatting values and embeds.
 * @param undefinedAllowed true if the text `undefined` is allowed, which stands for the value `undefined`
 */
export function skipJson(reader: ByteReader, undefinedAllowed = false): void {
  const start = reader.at
  reader.skipString()
  if (reader.isVetted) return
  const end = reader.at
  reader.at = start
  const length = reader.varUint()
  if (
    undefinedAllowed &&
    length === undefinedText.length &&
    undefinedText.compare(reader.bytes, reader.at, end) === 0
  ) {
    reader.at = end
    return
  }
  skipJsonText(reader, end)
}

const undefinedText = Buffer.from('undefined')
