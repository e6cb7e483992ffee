/** Castagnoli polynomial, with reversed bits. */
const polynomial = 0x82f63b78

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? polynomial : 0)
  return crc
})

/**
 * Returns the CRC table for bytes that have one more byte after them than the bytes of the table `before`.
 * With these tables, one step of the loop below processes four bytes.
 */
const behind = (before: Uint32Array): Uint32Array =>
  before.map((crc) => (crc >>> 8) ^ (table[crc & 0xff] as number))

const table1 = behind(table)
const table2 = behind(table1)
const table3 = behind(table2)

/**
 * Returns the CRC-32C of the bytes, as defined in RFC 3720 (iSCSI), 12.1, with examples in B.4. The function
 * `crc32` of `node:zlib` uses another polynomial.
 */
export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff
  let at = 0
  // The loop uses plain indices and four bytes in each step. An iterator or single bytes would take three
  // times as long.
  for (const end = bytes.length & ~3; at < end; at += 4) {
    crc ^=
      (bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24)
    crc =
      (table3[crc & 0xff] as number) ^
      (table2[(crc >>> 8) & 0xff] as number) ^
      (table1[(crc >>> 16) & 0xff] as number) ^
      (table[crc >>> 24] as number)
  }
  for (; at < bytes.length; at++) crc = (crc >>> 8) ^ (table[(crc ^ (bytes[at] as number)) & 0xff] as number)
  return (crc ^ 0xffffffff) >>> 0
}

/**
 * Returns the masked form of a CRC. LevelDB stores this form, because the CRC of bytes that themselves
 * contain CRCs would be weak (util/crc32c.h).
 */
export function maskCrc(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0
}
