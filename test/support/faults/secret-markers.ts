import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Collects secrets, in order to find them in any text. */
export class MarkedSecrets {
  readonly #parts = new Map<string, string>()

  /** Returns a new secret. No other text contains it. */
  make(name: string): string {
    return this.learn(name, `marked-${randomBytes(24).toString('hex')}`)
  }

  /**
   * Adds a secret that other code has created. If the secret is a JWT, only its signature is searched for,
   * because the signed part is not secret.
   */
  learn(name: string, secret: string): string {
    this.#parts.set(secret.replace(/^marked-|^ey[^.]+\.[^.]+\./, ''), name)
    return secret
  }

  /**
   * Returns the names of the secrets that a text contains. A secret is also found without its first
   * characters.
   */
  in(text: string): readonly string[] {
    return [...new Set([...this.#parts].filter(([part]) => text.includes(part)).map(([, name]) => name))]
  }

  /** Returns the files in a directory that contain secrets, in the form `file: name`. */
  inFilesOf(directory: string): readonly string[] {
    return readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .filter((name) => statSync(join(directory, name)).isFile())
      .flatMap((name) => {
        const found = this.in(readFileSync(join(directory, name), 'latin1'))
        return found.map((secret) => `${name.replace(/\d{6}/, '*')}: ${secret}`)
      })
  }
}

/** Members of responses whose values are secrets. */
const secretMembers: readonly string[] = [
  'token',
  'secret',
  'authToken',
  'apiKeyAuthToken',
  'newWorkspaceAuthToken',
]

/** Returns all secrets that a response contains. */
export function secretsToldBy(body: unknown): readonly string[] {
  if (typeof body !== 'object' || body === null) return []
  return Object.entries(body).flatMap(([name, value]: [string, unknown]) =>
    typeof value === 'string' && value.length > 15 && secretMembers.includes(name)
      ? [value]
      : secretsToldBy(value),
  )
}
