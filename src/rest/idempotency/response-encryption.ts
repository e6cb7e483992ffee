import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { IdempotentCall } from './idempotent-call.ts'

const algorithm = 'aes-256-gcm'
const ivBytes = 12
const tagBytes = 16

/**
 * Encrypts stored responses. The encryption key is derived from a secret of the server and the
 * `idempotency-key`, which is not stored. So only a caller that repeats the call can read the tokens and the
 * user content in the response.
 */
export class ResponseEncryption {
  readonly #secrets: readonly string[]

  /**
   * Creates the encryption.
   * @param secrets the secrets of the server; the first secret encrypts, and all secrets are tried for
   * decryption
   */
  constructor(secrets: readonly string[]) {
    this.#secrets = secrets
  }

  seal(call: IdempotentCall, text: string): string {
    const iv = randomBytes(ivBytes)
    const cipher = createCipheriv(algorithm, keyFor(this.#secrets[0] ?? '', call), iv)
    cipher.setAAD(Buffer.from(call.id))
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64')
  }

  /**
   * Decrypts a response. Returns null if no secret can decrypt it, because the secret that encrypted it was
   * removed.
   */
  open(call: IdempotentCall, sealed: string): string | null {
    const bytes = Buffer.from(sealed, 'base64')
    for (const secret of this.#secrets) {
      const text = openWith(keyFor(secret, call), call, bytes)
      if (text !== null) return text
    }
    return null
  }
}

const keyFor = (secret: string, { key }: IdempotentCall): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, key, 'weft stored answers', 32))

function openWith(key: Buffer, { id }: IdempotentCall, bytes: Buffer): string | null {
  try {
    const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes })
    decipher.setAAD(Buffer.from(id)).setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes))
    return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]).toString()
  } catch {
    return null
  }
}
