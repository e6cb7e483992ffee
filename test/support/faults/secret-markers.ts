import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Secrets by name, each of which is known again wherever it turns up. */
export class MarkedSecrets {
  readonly #parts = new Map<string, string>()

  /** A new secret that nothing else can contain. */
  make(name: string): string {
    return this.learn(name, `marked-${randomBytes(24).toString('hex')}`)
  }

  /** One that somebody else has made. Of a JWT the signature is looked for: what is signed is no secret. */
  learn(name: string, secret: string): string {
    this.#parts.set(secret.replace(/^marked-|^ey[^.]+\.[^.]+\./, ''), name)
    return secret
  }

  /** Names of the secrets that are in a text, whole or without their first characters. */
  in(text: string): readonly string[] {
    return [...new Set([...this.#parts].filter(([part]) => text.includes(part)).map(([, name]) => name))]
  }

  /** Files under a directory that hold secrets, as `file: name`. */
  inFilesOf(directory: string): readonly string[] {
    return readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .filter((name) => statSync(join(directory, name)).isFile())
      .flatMap((name) => {
        const found = this.in(readFileSync(join(directory, name), 'latin1'))
        return found.map((secret) => `${name.replace(/\d{6}/, '*')}: ${secret}`)
      })
  }
}

/** Strings called so in an answer are secrets that it tells. */
const secretMembers: readonly string[] = [
  'token',
  'secret',
  'authToken',
  'apiKeyAuthToken',
  'newWorkspaceAuthToken',
]

/** Secrets that an answer tells. */
export function secretsToldBy(body: unknown): readonly string[] {
  if (typeof body !== 'object' || body === null) return []
  return Object.entries(body).flatMap(([name, value]: [string, unknown]) =>
    typeof value === 'string' && value.length > 15 && secretMembers.includes(name)
      ? [value]
      : secretsToldBy(value),
  )
}
