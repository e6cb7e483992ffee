import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const algorithm = 'aes-256-gcm'
const ivBytes = 12
const tagBytes = 16

/** Returns a key for one purpose, derived from a secret of the server. */
export const derivedKey = (secret: string, salt: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, salt, purpose, 32))

/** Encrypts a text, and authenticates it together with its context, which the result does not contain. */
export function sealText(key: Buffer, context: Buffer, text: string): Buffer {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv(algorithm, key, iv).setAAD(context)
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), sealed])
}

/** Decrypts the result of `sealText`. Returns null if none of the keys has encrypted it in this context. */
export function unsealText(keys: readonly Buffer[], context: Buffer, sealed: Buffer): string | null {
  for (const key of keys)
    try {
      const iv = sealed.subarray(0, ivBytes)
      const decipher = createDecipheriv(algorithm, key, iv, { authTagLength: tagBytes })
      decipher.setAAD(context).setAuthTag(sealed.subarray(ivBytes, ivBytes + tagBytes))
      const text = decipher.update(sealed.subarray(ivBytes + tagBytes))
      return Buffer.concat([text, decipher.final()]).toString()
    } catch {
      // Another key may have encrypted it.
    }
  return null
}
