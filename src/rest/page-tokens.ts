import { createHash } from 'node:crypto'
import { invalid } from '../core/base/errors.ts'
import { derivedKey, sealText, unsealText } from './sealed-text.ts'

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
  readonly #keys: readonly [Buffer, ...Buffer[]]

  /**
   * Creates the converter.
   * @param secret the secret of the server; a token that was created with another secret is rejected
   * @param previousSecret a secret that is also accepted, while the secret is being replaced
   */
  constructor(secret: string, previousSecret: string | null = null) {
    this.#keys = [keyOf(secret), ...(previousSecret === null ? [] : [keyOf(previousSecret)])]
  }

  /**
   * Returns the token of a position.
   * @param query all values that determine what is listed and in which order, including the caller
   * @param position any JSON value
   */
  seal(query: readonly unknown[], position: unknown): string {
    return sealText(this.#keys[0], fingerprint(query), JSON.stringify(position)).toString('base64url')
  }

  /**
   * Returns the position of a token.
   * @param member the request member that contains the token
   * @throws ApiError INVALID_ARGUMENT if the token is damaged or belongs to another query
   */
  open(query: readonly unknown[], token: string, member = 'pageToken'): unknown {
    const bytes = Buffer.from(token.length > pageTokenLengthMax ? '' : token, 'base64url')
    const text = unsealText(this.#keys, fingerprint(query), bytes)
    if (text !== null) return JSON.parse(text)
    throw invalid('request/page-token', `${member} does not belong to this query; start again without it`)
  }
}

const keyOf = (secret: string): Buffer => derivedKey(secret, '', 'weft page tokens')

const fingerprint = (query: readonly unknown[]): Buffer =>
  createHash('sha256').update(JSON.stringify(query)).digest()
