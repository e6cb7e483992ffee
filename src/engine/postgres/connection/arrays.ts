/** Arrays in the text format of PostgreSQL; the library's own conversion takes several times as long. */
export const numberArray = (numbers: readonly number[]): string => `{${numbers.join(',')}}`

/** Array of texts without quotes and backslashes: generated ids, JSON of numbers. */
export const plainArray = (texts: readonly string[]): string =>
  texts.length === 0 ? '{}' : `{"${texts.join('","')}"}`

export function bytesArray(all: readonly (Uint8Array | null)[]): string {
  if (all.length === 0) return '{}'
  const items = all.map((bytes) => (bytes === null ? 'NULL' : `"\\\\x${hexOf(bytes)}"`))
  return `{${items.join(',')}}`
}

const hexOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')

/** Bytes of many rows as one parameter in binary. Elements of an array would be sent in hex. */
export interface PackedBytes {
  readonly bytes: Buffer
  /** Start of each one; the first byte is 1, as in `substr`. */
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
