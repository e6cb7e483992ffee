/** Arrays as PostgreSQL reads them; the library's own way takes several times as long. */
export const numberArray = (numbers: readonly number[]): string => `{${numbers.join(',')}}`

/** Of texts without quotes and backslashes: ids that we made, JSON of numbers. */
export const plainArray = (texts: readonly string[]): string =>
  texts.length === 0 ? '{}' : `{"${texts.join('","')}"}`

export function bytesArray(all: readonly (Uint8Array | null)[]): string {
  if (all.length === 0) return '{}'
  const items = all.map((bytes) => (bytes === null ? 'NULL' : `"\\\\x${hexOf(bytes)}"`))
  return `{${items.join(',')}}`
}

const hexOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')

/** Bytes of many rows as one parameter, which is sent as it is: as elements of an array they would be sent in hex. */
export interface PackedBytes {
  readonly bytes: Buffer
  /** Where each begins; the first byte is 1, as `substr` counts. */
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
