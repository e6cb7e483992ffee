import { createHash, timingSafeEqual } from 'node:crypto'
import { verifyWebhook } from 'weft-server/client'
import { Once } from './once.js'
import { openBody } from './opening.js'

const bodyBytesMax = 4 * 1024 * 1024

/** The response is not 2xx, so Weft retries later. */
class Refused extends Error {
  constructor(code, message) {
    super(message)
    this.code = code
  }
}

async function bodyOf(request) {
  const parts = []
  let size = 0
  for await (const part of request) {
    size += part.length
    if (size > bodyBytesMax) throw new Refused(413, 'the body is too large')
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

/**
 * Advanced endpoints sign id, time and body with the secret of the endpoint (Standard Webhooks). `verifyWebhook`
 * also rejects requests that are older than five minutes or from the future, so that a recorded request cannot be
 * sent again later.
 */
async function verifySignature(secret, headers, text) {
  try {
    await verifyWebhook(text, headers, secret)
  } catch (error) {
    throw new Refused(401, error.message)
  }
}

const digest = (text) => createHash('sha256').update(text).digest()

/** The basic service sends a fixed token, which proves neither the body nor its time: use TLS. */
function verifyToken(token, { authorization = '' }) {
  if (!timingSafeEqual(digest(authorization), digest(`Basic ${token}`)))
    throw new Refused(401, 'the token is not the one that was agreed on')
}

/**
 * Answers the requests of Weft: at `/advanced` from an endpoint, at `/basic` from the basic service.
 * @param options `secret` of the endpoint, `token` of the basic service, `privateKey` (PEM), and `onEvent`, which
 *   gets `{ service, form, event }` once for each event. It may be async. If it throws, the response is 500, and Weft
 *   sends the event again.
 */
export function receiver({ secret, token, privateKey, onEvent, onRefused = () => {} }) {
  const once = new Once()
  const verify = {
    '/advanced': (headers, text) => verifySignature(secret, headers, text),
    '/basic': (headers) => verifyToken(token, headers),
  }

  async function receive(request) {
    if (request.method !== 'POST' || !Object.hasOwn(verify, request.url)) throw new Refused(404, 'not found')
    const text = await bodyOf(request)
    await verify[request.url](request.headers, text)
    const { form, event } = openBody(text, privateKey)
    const id = request.headers['webhook-id'] ?? event.webhookId
    const isFirst = await once.do(id, () => onEvent({ service: request.url.slice(1), form, event }))
    return isFirst ? 200 : 204
  }

  return (request, response) => {
    receive(request).then(
      (code) => response.writeHead(code).end(),
      (error) => {
        onRefused(error)
        response.writeHead(error instanceof Refused ? error.code : 500, { connection: 'close' }).end()
      },
    )
  }
}
