import { constants, createDecipheriv, privateDecrypt } from 'node:crypto'

const bytes = (base64) => Buffer.from(base64, 'base64')

/**
 * Returns the event of a body in any of its forms: JSON, `{ encodedPayload }` (base64 of the JSON), or `{
 * encryptedData, encryptedKey, iv }` (AES-256-CBC with a key that RSA-OAEP with SHA-256 has encrypted).
 * @param text the received body. Verify its origin first: decryption does not prove it.
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
