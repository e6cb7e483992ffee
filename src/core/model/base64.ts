import { withoutTrailing } from '../base/text.ts'

/** Returns the length of the base64 text of `bytes` bytes, including the padding. */
export const base64LengthMax = (bytes: number): number => Math.ceil(bytes / 3) * 4

/**
 * Decodes base64. Returns null if the text is not valid base64; `Buffer.from` would silently ignore the
 * invalid part.
 */
export function decodeBase64(text: string): Uint8Array | null {
  const bytes = Buffer.from(text, 'base64')
  return withoutTrailing('=', bytes.toString('base64')) === withoutTrailing('=', text) ? bytes : null
}
