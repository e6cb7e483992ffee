/**
 * Formats an array of numbers in the text format of PostgreSQL. The conversion of the library takes several
 * times as long.
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

/** The bytes of many rows as one binary parameter. In an array parameter, the bytes would be sent in hex. */
export interface PackedBytes {
  readonly bytes: Buffer
  /** Start of the bytes of each row. The first byte has the number 1, as in the SQL function `substr`. */
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

export const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
