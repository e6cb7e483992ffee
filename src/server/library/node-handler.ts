import type { IncomingMessage, ServerResponse } from 'node:http'
import { ApiError } from '../../core/base/errors.ts'
import { errorEnvelope } from '../../core/model/raw-response.ts'
import { BodyTakenError } from '../../rest/http/request-body.ts'

/** The part of a request of Fastify that `nodeHandler` uses. */
export interface FastifyRequestLike {
  readonly raw: IncomingMessage
  readonly body?: unknown
}

/** Handler for Fastify, `node:http` and Express, without their types. */
export interface NodeHandler {
  (request: FastifyRequestLike, reply: object): Promise<Response>
  (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void): Promise<void>
}

/** A request of `node:http` or Express. */
type FrameworkRequest = IncomingMessage & { readonly originalUrl?: unknown; readonly body?: unknown }

/**
 * Adapts an endpoint of `createEndpoint` to `node:http`, Express and Fastify. The context of the endpoint is the
 * request of the framework, so that `authorize` can use its session. A parser such as `express.json()` can have read
 * the body before.
 */
export function nodeHandler(endpoint: (request: Request, context: never) => Promise<Response>): NodeHandler {
  const answer = (message: FrameworkRequest, parsed: unknown, context: unknown): Promise<Response> => {
    const request = toRequest(message, parsed)
    return request === null ? Promise.resolve(malformed()) : endpoint(request, context as never)
  }
  async function handle(
    request: FastifyRequestLike | FrameworkRequest,
    response: object,
    next?: (error?: unknown) => void,
  ): Promise<Response | undefined> {
    // Fastify sends the response that a handler returns.
    if ('raw' in request) return answer(request.raw, request.body, request)
    try {
      await send(await answer(request, request.body, request), response as ServerResponse)
    } catch (error) {
      if (next === undefined) throw error
      next(error)
    }
    return undefined
  }
  return handle as NodeHandler
}

/**
 * Returns the web-standard form of a request; null if it has none, such as for the method TRACE.
 * @param parsed the body, if other code has read it
 */
function toRequest(message: FrameworkRequest, parsed: unknown): Request | null {
  const { method = 'GET', headers, originalUrl, url = '/' } = message
  const path = typeof originalUrl === 'string' ? originalUrl : url
  const scheme = 'encrypted' in message.socket ? 'https' : 'http'
  const body = ['GET', 'HEAD'].includes(method)
    ? {}
    : { body: bodyOf(message, parsed), duplex: 'half' as const }
  try {
    return new Request(`${scheme}://${headers.host ?? 'localhost'}${path}`, {
      method,
      headers: headersOf(message),
      signal: signalOf(message),
      ...body,
    })
  } catch {
    return null
  }
}

const malformed = (): Response => {
  const error = new ApiError(
    'request/malformed',
    'the request has an invalid URL, method or header; use fetch',
  )
  return Response.json(errorEnvelope(error), { status: error.httpCode })
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers()
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2)
    // HTTP/2 puts the parts of the request line into headers with such names.
    if (!name.startsWith(':')) headers.append(name, value)
  }
  return headers
}

/** Returns a signal that aborts if the connection ends before the body is complete. */
function signalOf(message: IncomingMessage): AbortSignal {
  const controller = new AbortController()
  const abort = (): void => {
    if (!message.complete) controller.abort()
  }
  if (message.destroyed) abort()
  else message.once('close', abort)
  return controller.signal
}

function bodyOf(message: IncomingMessage, parsed: unknown): string | Buffer<ArrayBuffer> | ReadableStream {
  if (!message.readableEnded) return streamOf(message)
  if (parsed === undefined)
    return new ReadableStream({ start: (controller) => controller.error(new BodyTakenError()) })
  if (parsed instanceof Uint8Array) return Buffer.from(parsed)
  return typeof parsed === 'string' ? parsed : JSON.stringify(parsed)
}

/** Returns the body as a stream. If its reader ends early, the connection stays open for the response. */
function streamOf(message: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks = message.iterator({ destroyOnReturn: false }) as AsyncIterator<Uint8Array, undefined>
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await chunks.return?.()
    },
  })
}

async function send(answer: Response, response: ServerResponse): Promise<void> {
  const body = Buffer.from(await answer.arrayBuffer())
  response.statusCode = answer.status
  for (const [name, value] of answer.headers) response.setHeader(name, value)
  response.end(body)
}
