import { withoutTrailing } from '../../text.ts'

/** Returns the length of the base64 text of that many bytes, padding included. */
export const base64LengthMax = (bytes: number): number => Math.ceil(bytes / 3) * 4

/** Null if the text is not base64, which `Buffer.from` would ignore. */
export function decodeBase64(text: string): Uint8Array | null {
  const bytes = Buffer.from(text, 'base64')
  return withoutTrailing('=', bytes.toString('base64')) === withoutTrailing('=', text) ? bytes : null
}
