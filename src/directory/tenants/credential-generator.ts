import { randomBytes } from 'node:crypto'

/** Makes ids and secrets, and remembers whether it had to. */
export class CredentialGenerator {
  #used = false

  get used(): boolean {
    return this.#used
  }

  /** Such as `key_9f86d081884c7d659a2feaa0`: 96 random bits. */
  id(kind: string): string {
    this.#used = true
    return `${kind}_${randomBytes(12).toString('hex')}`
  }

  /** 256 random bits, safe in headers and URLs. */
  secret(): string {
    this.#used = true
    return randomBytes(32).toString('base64url')
  }
}
