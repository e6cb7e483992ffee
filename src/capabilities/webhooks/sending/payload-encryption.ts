import { createCipheriv, createPublicKey, type KeyObject, publicEncrypt, randomBytes } from 'node:crypto'
import type { AdvancedConfig } from '../webhook-records.ts'

/**
 * Minimum and maximum size of an RSA modulus in bits. Smaller keys are insecure. Encryption with larger keys
 * takes too long.
 */
export const publicKeyBits = { min: 2_048, max: 8_192 } as const

const base64 = /^[A-Za-z0-9+/]+={0,2}$/
/** Maximum length of the text of a key in characters. The longest valid key has about 1,400 characters. */
const textMax = 4_096

/**
 * Matches a complete PEM file. Before the match, the two characters `\n`, which separate lines in environment
 * variables, are replaced with line feeds.
 */
const pem = /^\s*-----BEGIN ((?:RSA )?PUBLIC KEY)-----([^-]*)-----END \1-----\s*$/

/**
 * Parses an RSA public key for encryption. The text is a PEM file, or the base64 body of a PEM file. The key
 * has the form SPKI (`BEGIN PUBLIC KEY`) or PKCS#1 (`BEGIN RSA PUBLIC KEY`). White space is ignored. Returns
 * null if the text is not such a key, if its size is outside of `publicKeyBits`, or if it cannot encrypt.
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

/**
 * Loads a key. Returns null if the bytes are not a public key. Node would also accept a private key here, but
 * a private key must not be stored or shown.
 */
function loaded(bytes: Buffer, type: 'spki' | 'pkcs1'): KeyObject | null {
  try {
    const key = createPublicKey({ key: bytes, format: 'der', type })
    return key.export({ format: 'der', type }).equals(bytes) ? key : null
  } catch {
    return null
  }
}

/**
 * Returns whether the type, the size and the exponent of a key are allowed. Keys that can only verify
 * signatures have another type. With the exponent 1, the encrypted text would be the plain text.
 */
function isFit({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  const { modulusLength = 0, publicExponent = 0n } = asymmetricKeyDetails ?? {}
  const fits = modulusLength >= publicKeyBits.min && modulusLength <= publicKeyBits.max
  return asymmetricKeyType === 'rsa' && fits && publicExponent >= 3n && publicExponent < 2n ** 33n
}

/** Returns whether a key can encrypt. Some numbers can be loaded as a key, but encryption with them fails. */
function isUsable(key: KeyObject): boolean {
  try {
    publicEncrypt({ key, oaepHash: 'sha256' }, Buffer.alloc(32))
    return true
  } catch {
    return false
  }
}

export type PayloadEncoding =
  | { readonly kind: 'plain' }
  | { readonly kind: 'encoded' }
  | { readonly kind: 'encrypted'; readonly publicKey: KeyObject }
  /** The payload must be encrypted, but there is no valid key. Nothing may be sent. */
  | { readonly kind: 'impossible' }

/** Returns the encoding that a configuration requires. Encryption takes precedence over encoding. */
export function encodingFor({
  encryptData,
  encodeData,
  publicKey,
}: Pick<AdvancedConfig, 'encryptData' | 'encodeData' | 'publicKey'>): PayloadEncoding {
  if (!encryptData) return { kind: encodeData ? 'encoded' : 'plain' }
  const key = readPublicKey(publicKey)
  return key === null ? { kind: 'impossible' } : { kind: 'encrypted', publicKey: key }
}

/**
 * Returns the body of a request.
 * - `plain`: the JSON.
 * - `encoded`: `{ encodedPayload }`, the base64 of the JSON.
 * - `encrypted`: `{ encryptedData, encryptedKey, iv }`, each in base64. The JSON is encrypted with
 * AES-256-CBC, a new key and a new iv. The key is encrypted with RSA-OAEP and SHA-256.
 */
export function encodePayload(
  json: Buffer,
  sealing: Exclude<PayloadEncoding, { kind: 'impossible' }>,
): Buffer {
  if (sealing.kind === 'plain') return json
  const form =
    sealing.kind === 'encoded'
      ? { encodedPayload: json.toString('base64') }
      : encrypted(json, sealing.publicKey)
  return Buffer.from(JSON.stringify(form))
}

function encrypted(json: Buffer, publicKey: KeyObject) {
  const [key, iv] = [randomBytes(32), randomBytes(16)]
  const cipher = createCipheriv('aes-256-cbc', key, iv)
  return {
    encryptedData: Buffer.concat([cipher.update(json), cipher.final()]).toString('base64'),
    encryptedKey: publicEncrypt({ key: publicKey, oaepHash: 'sha256' }, key).toString('base64'),
    iv: iv.toString('base64'),
  }
}
