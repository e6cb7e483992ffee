import * as Y from 'yjs'

/**
 * Returns whether bytes are exactly a Yjs relative position. Positions of older clients lack the association.
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
