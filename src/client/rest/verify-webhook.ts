import type { WebhookEvent } from '../api/weft-event.ts'

/** Headers of a request: those of `fetch` and Hono, or those of Node, Express and Fastify. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>

/** Options of `verifyWebhook`. */
export interface WebhookOptions {
  /** Maximum difference between the time of the request and the time of this machine. Default: 300. */
  readonly toleranceSeconds?: number
}

/** The error of a request that Weft did not sign with the secret, or that is too old. */
export class WebhookRejectedError extends Error {
  override readonly name = 'WebhookRejectedError'
}

/** Secrets that are compared at most, because each needs a computation. */
const secretsMax = 10
/** Signatures of one request that are compared at most. Weft sends two during the rotation of a secret. */
const signaturesMax = 10

/**
 * Checks the signature of a webhook or a callback (Standard Webhooks), and returns its body. The comparison
 * takes the same time for all signatures.
 * @param body the body exactly as it was received: text or bytes, never parsed JSON
 * @param secret the secret of the endpoint, `whsec_…`; or several, while a secret is replaced
 * @returns the JSON of the body; decoded if it is in `encodedPayload`
 * @throws WebhookRejectedError
 * @throws TypeError if a secret is not valid
 */
export async function verifyWebhook<Payload = WebhookEvent>(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { toleranceSeconds = 300 }: WebhookOptions = {},
): Promise<Payload> {
  const id = headerOf(headers, 'webhook-id')
  const timestamp = headerOf(headers, 'webhook-timestamp')
  const signatures = headerOf(headers, 'webhook-signature').split(' ', signaturesMax)
  const seconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN
  const differenceSeconds = Math.abs(Date.now() / 1000 - seconds)
  if (Number.isNaN(seconds)) throw new WebhookRejectedError('the header webhook-timestamp is not a time')
  if (differenceSeconds > toleranceSeconds)
    throw new WebhookRejectedError(
      `the request is ${Math.round(differenceSeconds)} s away from the time here`,
    )
  const secrets = typeof secret === 'string' ? [secret] : secret.slice(0, secretsMax)
  const keys = await Promise.all(secrets.map(keyOf))
  const signed = join(`${id}.${timestamp}.`, body)
  for (const signature of signatures)
    for (const key of keys) if (await isSignedBy(key, signature, signed)) return payloadOf(body) as Payload
  throw new WebhookRejectedError('the signature does not belong to the body and the secret')
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const value = isGetter(headers) ? headers.get(name) : headers[name]
  if (typeof value === 'string' && value !== '') return value
  throw new WebhookRejectedError(`the header ${name} is missing`)
}

const isGetter = (headers: WebhookHeaders): headers is { get(name: string): string | null } =>
  typeof headers.get === 'function'

async function keyOf(secret: string): Promise<CryptoKey> {
  const bytes = secret.startsWith('whsec_') ? decodeBase64(secret.slice('whsec_'.length)) : null
  if (bytes === null || bytes.length === 0)
    throw new TypeError('invalid secret of a webhook; expected whsec_ followed by base64')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

async function isSignedBy(
  key: CryptoKey,
  signature: string,
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const bytes = signature.startsWith('v1,') ? decodeBase64(signature.slice('v1,'.length)) : null
  // `verify` compares in constant time.
  return bytes !== null && crypto.subtle.verify('HMAC', key, bytes, signed)
}

function join(start: string, body: string | Uint8Array): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder()
  const [head, rest] = [encoder.encode(start), typeof body === 'string' ? encoder.encode(body) : body]
  const joined = new Uint8Array(head.length + rest.length)
  joined.set(head)
  joined.set(rest, head.length)
  return joined
}

/** Returns the bytes of base64; null if the text is not base64. */
function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
}

function payloadOf(body: string | Uint8Array): unknown {
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  try {
    const payload: unknown = JSON.parse(text)
    const encoded = (payload as { readonly encodedPayload?: unknown } | null)?.encodedPayload
    if (typeof encoded !== 'string') return payload
    const bytes = decodeBase64(encoded)
    return bytes === null ? payload : JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    throw new WebhookRejectedError('the body is not JSON')
  }
}
