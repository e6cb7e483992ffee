/** Reflected polynomial of Castagnoli. */
const polynomial = 0x82f63b78

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? polynomial : 0)
  return crc
})

/** CRC-32C, as RFC 3720 (iSCSI) defines it in 12.1 and shows it in B.4; `node:zlib` has only the other CRC-32. */
export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff
  // Plain indices: an iterator takes three times as long.
  for (let at = 0; at < bytes.length; at++) {
    crc = (crc >>> 8) ^ (table[(crc ^ (bytes[at] as number)) & 0xff] as number)
  }
  return (crc ^ 0xffffffff) >>> 0
}

/** What LevelDB stores in place of a CRC: one of bytes that hold CRCs themselves would be weak (util/crc32c.h). */
export function masked(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0
}
