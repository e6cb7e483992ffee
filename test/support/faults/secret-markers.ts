import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Secrets by name that can be recognized wherever they occur. */
export class MarkedSecrets {
  readonly #parts = new Map<string, string>()

  /** Returns a new secret that no other text contains. */
  make(name: string): string {
    return this.learn(name, `marked-${randomBytes(24).toString('hex')}`)
  }

  /**
   * Adds a secret that other code has created. For a JWT it searches the signature, because the signed part
   * is public.
   */
  learn(name: string, secret: string): string {
    this.#parts.set(secret.replace(/^marked-|^ey[^.]+\.[^.]+\./, ''), name)
    return secret
  }

  /** Returns the names of the secrets in a text, complete or without their first characters. */
  in(text: string): readonly string[] {
    return [...new Set([...this.#parts].filter(([part]) => text.includes(part)).map(([, name]) => name))]
  }

  /** Returns the files below a directory that contain secrets, as `file: name`. */
  inFilesOf(directory: string): readonly string[] {
    return readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .filter((name) => statSync(join(directory, name)).isFile())
      .flatMap((name) => {
        const found = this.in(readFileSync(join(directory, name), 'latin1'))
        return found.map((secret) => `${name.replace(/\d{6}/, '*')}: ${secret}`)
      })
  }
}

/** Members of responses whose strings are secrets. */
const secretMembers: readonly string[] = [
  'token',
  'secret',
  'authToken',
  'apiKeyAuthToken',
  'newWorkspaceAuthToken',
]

/** Returns the secrets in a response. */
export function secretsToldBy(body: unknown): readonly string[] {
  if (typeof body !== 'object' || body === null) return []
  return Object.entries(body).flatMap(([name, value]: [string, unknown]) =>
    typeof value === 'string' && value.length > 15 && secretMembers.includes(name)
      ? [value]
      : secretsToldBy(value),
  )
}
