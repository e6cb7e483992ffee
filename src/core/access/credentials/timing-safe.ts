import { hash as digestOf, timingSafeEqual } from 'node:crypto'

const hash = (text: string): Buffer => digestOf('sha256', text, 'buffer')

/**
 * Returns whether two secrets are equal. Compares the hashes of the secrets, which have equal lengths, so
 * that the duration reveals nothing about the secrets.
 */
export const timingSafeEqualText = (a: string, b: string): boolean => timingSafeEqual(hash(a), hash(b))

/**
 * Returns the index of `given` in `secrets`; -1 if `secrets` does not contain it. Always compares all
 * secrets.
 */
export function timingSafeIndexOf(secrets: readonly string[], given: string): number {
  let found = -1
  for (const [index, secret] of secrets.entries()) found = timingSafeEqualText(secret, given) ? index : found
  return found
}

/** Like `timingSafeEqualText`, but for bytes whose length is not secret, such as the MAC of a message. */
export const timingSafeEqualBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && timingSafeEqual(a, b)
