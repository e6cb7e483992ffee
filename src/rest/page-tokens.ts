import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'
import { invalid } from '../core/base/errors.ts'

const algorithm = 'aes-256-gcm'
const ivBytes = 12
const tagBytes = 16
/**
 * Maximum length of a token. A position has a few ids, whose quotes are escaped at most three times, so a
 * longer token is not from this server.
 */
export const pageTokenLengthMax = 32_768

/**
 * Converts positions of listings to opaque tokens and back. The tokens are encrypted, so that clients cannot
 * read them. They are authenticated together with the query, so that a token is valid only for its query.
 */
export class PageTokens {
  readonly #key: Buffer
  readonly #keys: readonly Buffer[]

  /**
   * Creates the converter.
   * @param secret the secret of the server; a token that was created with another secret is rejected
   * @param previousSecret a secret that is also accepted, while the secret is being replaced
   */
  constructor(secret: string, previousSecret: string | null = null) {
    this.#key = keyOf(secret)
    this.#keys = [this.#key, ...(previousSecret === null ? [] : [keyOf(previousSecret)])]
  }

  /**
   * Returns the token of a position.
   * @param query all values that determine what is listed and in which order, including the caller
   * @param position any JSON value
   */
  seal(query: readonly unknown[], position: unknown): string {
    const iv = randomBytes(ivBytes)
    const cipher = createCipheriv(algorithm, this.#key, iv).setAAD(fingerprint(query))
    const text = Buffer.concat([cipher.update(JSON.stringify(position)), cipher.final()])
    return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url')
  }

  /**
   * Returns the position of a token.
   * @param member the request member that contains the token
   * @throws ApiError INVALID_ARGUMENT if the token is damaged or belongs to another query
   */
  open(query: readonly unknown[], token: string, member = 'pageToken'): unknown {
    const bytes = Buffer.from(token.length > pageTokenLengthMax ? '' : token, 'base64url')
    let cause: unknown
    for (const key of this.#keys) {
      try {
        return JSON.parse(opened(key, query, bytes))
      } catch (error) {
        cause = error
      }
    }
    throw Object.assign(
      invalid('request/page-token', `${member} does not belong to this query; start again without it`),
      { cause },
    )
  }
}

const keyOf = (secret: string): Buffer => Buffer.from(hkdfSync('sha256', secret, '', 'weft page tokens', 32))

/**
 * Decrypts a token.
 * @throws Error if the token was not created with this key for this query
 */
function opened(key: Buffer, query: readonly unknown[], bytes: Buffer): string {
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes })
  decipher.setAAD(fingerprint(query)).setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes))
  return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]).toString()
}

const fingerprint = (query: readonly unknown[]): Buffer =>
  createHash('sha256').update(JSON.stringify(query)).digest()
