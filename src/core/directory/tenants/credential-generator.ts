import { randomBytes } from 'node:crypto'

/** Generates ids and secrets. Also records whether any were generated. */
export class CredentialGenerator {
  #used = false

  get used(): boolean {
    return this.#used
  }

  /** Returns an id with 96 random bits, such as `key_9f86d081884c7d659a2feaa0`. */
  id(kind: string): string {
    this.#used = true
    return `${kind}_${randomBytes(12).toString('hex')}`
  }

  /** Returns a secret with 256 random bits. Its characters are safe in headers and URLs. */
  secret(): string {
    this.#used = true
    return randomBytes(32).toString('base64url')
  }
}
