import { randomBytes } from 'node:crypto'

/** Generates ids and secrets, and records whether it has generated any. */
export class CredentialGenerator {
  #used = false

  get used(): boolean {
    return this.#used
  }

  /** Returns an id such as `key_9f86d081884c7d659a2feaa0`: 96 random bits. */
  id(kind: string): string {
    this.#used = true
    return `${kind}_${randomBytes(12).toString('hex')}`
  }

  /** Returns a secret of 256 random bits, safe in headers and URLs. */
  secret(): string {
    this.#used = true
    return randomBytes(32).toString('base64url')
  }
}
