import { ByteCursor } from './byte-cursor.ts'

/**
 * Decompresses a Snappy block as specified in format_description.txt of google/snappy: the length, then
 * elements. An element is either a literal or a copy of earlier output.
 * @throws RangeError if an element exceeds the end
 */
export function decompressSnappy(compressed: Buffer): Buffer {
  const input = new ByteCursor(compressed)
  const output = Buffer.alloc(input.varint())
  let end = 0
  while (input.left > 0) {
    const tag = input.number(1)
    if ((tag & 3) === 0) {
      const literal = input.bytes(literalBytes(tag, input))
      output.set(literal, end)
      end += literal.length
    } else {
      const { back, bytes } = copyOf(tag, input)
      // Copies byte by byte, because the source of the copy may overlap with its output.
      for (const stop = end + bytes; end < stop; end++) output[end] = output[end - back] as number
    }
  }
  return output
}

function literalBytes(tag: number, input: ByteCursor): number {
  const short = tag >>> 2
  return 1 + (short < 60 ? short : input.number(short - 59))
}

function copyOf(tag: number, input: ByteCursor): { readonly back: number; readonly bytes: number } {
  if ((tag & 3) === 1) {
    return { bytes: 4 + ((tag >>> 2) & 7), back: ((tag >>> 5) << 8) | input.number(1) }
  }
  return { bytes: 1 + (tag >>> 2), back: input.number((tag & 3) === 2 ? 2 : 4) }
}
