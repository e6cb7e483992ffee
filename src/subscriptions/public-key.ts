import { createPublicKey, type KeyObject, publicEncrypt } from 'node:crypto'

/** Bits of the modulus. What is longer makes every payload dear. */
const bitsMin = 2048
const bitsMax = 8192
/** Characters of base64; the largest key has about 1,400. */
const textMax = 4096

/**
 * The RSA key that payloads are encrypted for, from the base64 body of its PEM file (line breaks do not matter), SPKI
 * (`BEGIN PUBLIC KEY`) or PKCS#1 (`BEGIN RSA PUBLIC KEY`). Null for anything else, for keys of fewer than 2,048 or more
 * than 8,192 bits, and for keys that nothing can be encrypted with.
 */
export function readPublicKey(text: string): KeyObject | null {
  if (text.length > textMax) return null
  const body = text.replace(/\s/g, '')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(body)) return null
  const der = Buffer.from(body, 'base64')
  const key = loaded(der, 'spki') ?? loaded(der, 'pkcs1')
  return key !== null && isUsable(key) ? key : null
}

/** Null as well for a private key, which Node takes, too: it must not be kept here, much less be shown again. */
function loaded(der: Buffer, type: 'spki' | 'pkcs1'): KeyObject | null {
  try {
    const key = createPublicKey({ key: der, format: 'der', type })
    return key.export({ format: 'der', type }).equals(der) ? key : null
  } catch {
    return null
  }
}

/** Also tries it: some numbers load as a key and fail with the first use. */
function isUsable(key: KeyObject): boolean {
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0
  if (key.asymmetricKeyType !== 'rsa' || bits < bitsMin || bits > bitsMax) return false
  try {
    publicEncrypt({ key, oaepHash: 'sha256' }, Buffer.alloc(32))
    return true
  } catch {
    return false
  }
}
