import { createPublicKey, type KeyObject, publicEncrypt } from 'node:crypto'

/** Of an RSA modulus: fewer are no protection, more take long to encrypt with. */
export const publicKeyBits = { min: 2_048, max: 8_192 } as const

const base64 = /^[A-Za-z0-9+/]+={0,2}$/
/** Characters; the largest key has about 1,400. */
const textMax = 4_096

/** A whole PEM file; its lines may also be separated by `\\n` as two characters, as in environment variables. */
const pem = /^\s*-----BEGIN ((?:RSA )?PUBLIC KEY)-----([^-]*)-----END \1-----\s*$/

/**
 * The RSA key that `text` is, for encryption: a PEM file, or its base64 body without the first and last line, in the form
 * SPKI (`BEGIN PUBLIC KEY`) or PKCS#1 (`BEGIN RSA PUBLIC KEY`); white space in it does not count. Null when it is none
 * of those, has not a size of `publicKeyBits`, or nothing can be encrypted with it.
 */
export function readPublicKey(text: string): KeyObject | null {
  if (text.length > textMax) return null
  const unescaped = text.replaceAll(String.raw`\n`, '\n')
  const body = (pem.exec(unescaped)?.[2] ?? text).replace(/\s/g, '')
  if (!base64.test(body)) return null
  const bytes = Buffer.from(body, 'base64')
  const key = loaded(bytes, 'spki') ?? loaded(bytes, 'pkcs1')
  return key !== null && isFit(key) && isUsable(key) ? key : null
}

/** Null as well for a private key, which Node takes, too: it must not be kept here, much less be shown again. */
function loaded(bytes: Buffer, type: 'spki' | 'pkcs1'): KeyObject | null {
  try {
    const key = createPublicKey({ key: bytes, format: 'der', type })
    return key.export({ format: 'der', type }).equals(bytes) ? key : null
  } catch {
    return null
  }
}

/** A key of exponent 1 would encrypt nothing; keys for signatures only have another type. */
function isFit({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  const { modulusLength = 0, publicExponent = 0n } = asymmetricKeyDetails ?? {}
  const fits = modulusLength >= publicKeyBits.min && modulusLength <= publicKeyBits.max
  return asymmetricKeyType === 'rsa' && fits && publicExponent >= 3n && publicExponent < 2n ** 33n
}

/** Some numbers load as a key, and fail with the first use. */
function isUsable(key: KeyObject): boolean {
  try {
    publicEncrypt({ key, oaepHash: 'sha256' }, Buffer.alloc(32))
    return true
  } catch {
    return false
  }
}
