import * as Y from 'yjs'

/**
 * Returns whether the bytes are exactly one Yjs relative position. The positions of older clients do not
 * contain the association.
 */
export function isRelativePosition(bytes: Uint8Array): boolean {
  try {
    const encoded = Y.encodeRelativePosition(Y.decodeRelativePosition(bytes))
    const missing = encoded.length - bytes.length
    return (missing === 0 || missing === 1) && Buffer.from(encoded.subarray(0, bytes.length)).equals(bytes)
  } catch {
    return false
  }
}
