import { createCipheriv, type KeyObject, publicEncrypt, randomBytes } from 'node:crypto'
import { readPublicKey } from '../subscriptions/endpoints/public-key.ts'
import type { AdvancedConfig } from '../subscriptions/webhook-records.ts'

/** In which form a payload travels. */
export type PayloadEncoding =
  | { readonly kind: 'plain' }
  | { readonly kind: 'encoded' }
  | { readonly kind: 'encrypted'; readonly publicKey: KeyObject }
  /** It is to be encrypted, and there is no key: nothing may be sent. */
  | { readonly kind: 'impossible' }

/** Encryption wins over encoding. */
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
 * The body of a request: JSON, `{ encodedPayload }` (base64 of the JSON), or `{ encryptedData, encryptedKey, iv }`
 * (base64 each: AES-256-CBC with a key and an iv of its own, the key wrapped by RSA-OAEP with SHA-256).
 */
export function encodePayload(
  json: string,
  sealing: Exclude<PayloadEncoding, { kind: 'impossible' }>,
): Buffer {
  if (sealing.kind === 'plain') return Buffer.from(json)
  const form =
    sealing.kind === 'encoded'
      ? { encodedPayload: Buffer.from(json).toString('base64') }
      : encrypted(json, sealing.publicKey)
  return Buffer.from(JSON.stringify(form))
}

function encrypted(json: string, publicKey: KeyObject) {
  const [key, iv] = [randomBytes(32), randomBytes(16)]
  const cipher = createCipheriv('aes-256-cbc', key, iv)
  return {
    encryptedData: Buffer.concat([cipher.update(json, 'utf8'), cipher.final()]).toString('base64'),
    encryptedKey: publicEncrypt({ key: publicKey, oaepHash: 'sha256' }, key).toString('base64'),
    iv: iv.toString('base64'),
  }
}
