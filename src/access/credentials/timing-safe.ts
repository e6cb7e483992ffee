import { createHash, timingSafeEqual } from 'node:crypto'

const hash = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Whether two secrets are equal, in a time that depends on neither: hashes of equal length are compared. */
export const timingSafeEqualText = (a: string, b: string): boolean => timingSafeEqual(hash(a), hash(b))

/** Which of `secrets` `given` is; -1 when it is none. All are compared, whichever matches. */
export function timingSafeIndexOf(secrets: readonly string[], given: string): number {
  let found = -1
  for (const [index, secret] of secrets.entries()) found = timingSafeEqualText(secret, given) ? index : found
  return found
}

/** The same of what is no secret text: a MAC and the one given for it. */
export const timingSafeEqualBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && timingSafeEqual(a, b)
