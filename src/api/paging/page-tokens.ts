import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'
import { invalid } from '../../errors.ts'

const algorithm = 'aes-256-gcm'
const ivBytes = 12
const tagBytes = 16
/** A position has a few ids, whose quotes are escaped at most three times; a longer token is not from this server. */
export const pageTokenLengthMax = 32_768

/**
 * Positions of listings as opaque tokens: encrypted, so clients cannot read them, and authenticated together with the
 * query, so a token is valid only for its query.
 */
export class PageTokens {
  readonly #key: Buffer
  readonly #keys: readonly Buffer[]

  /**
   * @param secret the secret of the server; tokens of other secrets are rejected
   * @param previousSecret also accepted while the secret is being replaced
   */
  constructor(secret: string, previousSecret: string | null = null) {
    this.#key = keyOf(secret)
    this.#keys = [this.#key, ...(previousSecret === null ? [] : [keyOf(previousSecret)])]
  }

  /** @param query all that decides what is listed, and in what order, the caller included; @param position JSON */
  seal(query: readonly unknown[], position: unknown): string {
    const iv = randomBytes(ivBytes)
    const cipher = createCipheriv(algorithm, this.#key, iv).setAAD(fingerprint(query))
    const text = Buffer.concat([cipher.update(JSON.stringify(position)), cipher.final()])
    return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url')
  }

  /**
   * Returns the position of a token. @param member the request member with the token
   * @throws ApiError INVALID_ARGUMENT if it is damaged or belongs to another query
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

/** @throws Error when it was not sealed with this key, for this query */
function opened(key: Buffer, query: readonly unknown[], bytes: Buffer): string {
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes })
  decipher.setAAD(fingerprint(query)).setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes))
  return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]).toString()
}

const fingerprint = (query: readonly unknown[]): Buffer =>
  createHash('sha256').update(JSON.stringify(query)).digest()
