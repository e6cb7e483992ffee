import { createHmac, type KeyObject } from 'node:crypto'
import { errors, type JWTPayload } from 'jose'
import { isJsonObject } from '../../base/json.ts'
import { timingSafeEqualBytes } from '../credentials/timing-safe.ts'

/** Matches a JWT: header, payload and signature, each in the alphabet of base64url and without padding. */
const compactForm = /^([\w-]+)\.([\w-]+)\.([\w-]*)$/

/**
 * Returns the payload of a JWT (compact, HS256) that was signed with one of `keys`. Does not check the
 * claims. Runs synchronously, because Web Crypto would compute the HMAC on a thread: handing the work to the
 * thread takes thirty times as long as the HMAC.
 * @throws JOSEError like `jwtVerify`
 */
export function signedPayload(token: string, keys: readonly KeyObject[]): JWTPayload {
  const parts = compactForm.exec(token)
  if (parts === null) throw new errors.JWSInvalid('not a compact JWS')
  const [, header = '', payload = '', signature = ''] = parts
  checkHeader(objectIn(header))
  const given = Buffer.from(signature, 'base64url')
  const signed = token.slice(0, header.length + 1 + payload.length)
  if (!keys.some((key) => timingSafeEqualBytes(createHmac('sha256', key).update(signed).digest(), given)))
    throw new errors.JWSSignatureVerificationFailed()
  const claims = objectIn(payload)
  if (claims === null) throw new errors.JWTInvalid('the claims are not a JSON object')
  return claims
}

/** Maximum number of cached tokens. Beyond this number, the tokens that were cached first are evicted. */
const cachedPayloadsMax = 500
/** Maximum length of a cached token. Longer tokens, which have a large number of grants, are not cached. */
const cachedPayloadLengthMax = 1_024

/**
 * Caches the results of `signedPayload` for one set of keys. A valid signature stays valid. Therefore a token
 * that is used again, for another document or after a pause, need not be verified again.
 */
export class SignedPayloads {
  readonly #keys: readonly KeyObject[]
  readonly #cache = new Map<string, JWTPayload>()

  constructor(keys: readonly KeyObject[]) {
    this.#keys = keys
  }

  /** Returns the payload of a token. The caller must not modify it. @throws JOSEError */
  of(token: string): JWTPayload {
    const cached = this.#cache.get(token)
    if (cached !== undefined) return cached
    const payload = signedPayload(token, this.#keys)
    if (token.length <= cachedPayloadLengthMax) this.#cache.set(token, payload)
    const [oldest] = this.#cache.keys()
    if (this.#cache.size > cachedPayloadsMax && oldest !== undefined) this.#cache.delete(oldest)
    return payload
  }
}

/**
 * Checks the header of a JWT. The header must specify HS256, because a token must not choose the algorithm.
 * It must not contain critical headers, because this code supports none.
 */
function checkHeader(header: Readonly<Record<string, unknown>> | null): void {
  if (header === null) throw new errors.JWSInvalid('the header is not a JSON object')
  if (Object.hasOwn(header, 'crit')) throw new errors.JOSENotSupported('critical headers are not supported')
  if (header.alg !== 'HS256') throw new errors.JOSEAlgNotAllowed('the algorithm is not allowed')
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Returns the object that one part of a token encodes; null if the part does not encode an object. */
function objectIn(part: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(utf8.decode(Buffer.from(part, 'base64url')))
    return isJsonObject(value) ? value : null
  } catch {
    return null
  }
}
