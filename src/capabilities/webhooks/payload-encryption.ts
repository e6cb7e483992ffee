import { createCipheriv, type KeyObject, publicEncrypt, randomBytes } from 'node:crypto'
import { readPublicKey } from '../subscriptions/endpoints/public-key.ts'
import type { AdvancedConfig } from '../subscriptions/webhook-records.ts'

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
