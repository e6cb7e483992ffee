import { derivedKey, sealText, unsealText } from '../sealed-text.ts'
import type { IdempotentCall } from './idempotent-call.ts'

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
    return sealText(keyFor(this.#secrets[0] ?? '', call), Buffer.from(call.id), text).toString('base64')
  }

  /**
   * Decrypts a response. Returns null if no secret can decrypt it, because the secret that encrypted it was
   * removed.
   */
  open(call: IdempotentCall, sealed: string): string | null {
    const keys = this.#secrets.map((secret) => keyFor(secret, call))
    return unsealText(keys, Buffer.from(call.id), Buffer.from(sealed, 'base64'))
  }
}

const keyFor = (secret: string, { key }: IdempotentCall): Buffer =>
  derivedKey(secret, key, 'weft stored answers')
