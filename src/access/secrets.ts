import { createHash, timingSafeEqual } from 'node:crypto'

const hash = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Whether two secrets are equal, in a time that depends on neither: hashes of equal length are compared. */
export const timingSafe = (a: string, b: string): boolean => timingSafeEqual(hash(a), hash(b))

/** Whether `given` is one of `secrets`. All are compared, whichever matches. */
export function timingSafeIncludes(secrets: readonly string[], given: string): boolean {
  let found = 0
  for (const secret of secrets) found |= Number(timingSafe(secret, given))
  return found === 1
}
