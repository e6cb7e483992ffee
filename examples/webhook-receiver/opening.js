import { constants, createDecipheriv, privateDecrypt } from 'node:crypto'

const bytes = (base64) => Buffer.from(base64, 'base64')

/**
 * The event in a body, in whichever form it has come: JSON, `{ encodedPayload }` (base64 of the JSON), or
 * `{ encryptedData, encryptedKey, iv }` (AES-256-CBC under a key of its own, which RSA-OAEP with SHA-256 has wrapped).
 * @param text the body as it has come, whose origin has been verified: what is decrypted is not proven by that
 */
export function openBody(text, privateKey) {
  const body = JSON.parse(text)
  if (typeof body.encodedPayload === 'string') {
    return { form: 'encoded', event: JSON.parse(bytes(body.encodedPayload).toString()) }
  }
  if (typeof body.encryptedData !== 'string') return { form: 'plain', event: body }
  const padding = constants.RSA_PKCS1_OAEP_PADDING
  const key = privateDecrypt({ key: privateKey, padding, oaepHash: 'sha256' }, bytes(body.encryptedKey))
  const decipher = createDecipheriv('aes-256-cbc', key, bytes(body.iv))
  const json = Buffer.concat([decipher.update(bytes(body.encryptedData)), decipher.final()])
  return { form: 'encrypted', event: JSON.parse(json.toString()) }
}
