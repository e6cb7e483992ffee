import { asBuffer } from '../../../core/base/bytes.ts'
/**
 * Formats an array of numbers in the text format of PostgreSQL. This is several times as fast as the
 * conversion of the library.
 */
export const numberArray = (numbers: readonly number[]): string => `{${numbers.join(',')}}`

/**
 * Formats an array of texts that contain no quotes and no backslashes, such as generated ids or JSON of
 * numbers.
 */
export const plainArray = (texts: readonly string[]): string =>
  texts.length === 0 ? '{}' : `{"${texts.join('","')}"}`

export function bytesArray(all: readonly (Uint8Array | null)[]): string {
  if (all.length === 0) return '{}'
  const items = all.map((bytes) => (bytes === null ? 'NULL' : `"\\\\x${hexOf(bytes)}"`))
  return `{${items.join(',')}}`
}

const hexOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')

/**
 * The bytes of many rows, joined into one binary parameter. In an array parameter, the library would send the
 * bytes as hex digits.
 */
interface PackedBytes {
  readonly bytes: Buffer
  /**
   * Positions at which the bytes of each row start. Position 1 is the first byte, as in the SQL function
   * `substr`.
   */
  readonly starts: string
  readonly sizes: string
}

export function packBytes(all: readonly Uint8Array[]): PackedBytes {
  const starts: number[] = []
  let at = 1
  for (const { length } of all) {
    starts.push(at)
    at += length
  }
  return {
    bytes: all.length === 1 && all[0] !== undefined ? asBuffer(all[0]) : Buffer.concat(all),
    starts: numberArray(starts),
    sizes: numberArray(all.map(({ length }) => length)),
  }
}
