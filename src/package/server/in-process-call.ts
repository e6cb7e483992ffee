import { IncomingMessage, type OutgoingHttpHeaders, type RequestListener, ServerResponse } from 'node:http'
import { Socket } from 'node:net'

/** The response to a call in the process. */
export interface InProcessResponse {
  readonly status: number
  /** The header `retry-after`, if there is one. */
  readonly retryAfterSeconds: number | undefined
  readonly requestId: string
  readonly body: unknown
}

/**
 * Makes a POST request without a connection. The request takes the same way as one from a client: validation,
 * limits, audit and idempotency.
 * @throws Error if the server ends the request without a response
 */
export function callInProcess(
  handle: RequestListener,
  path: string,
  headers: Readonly<Record<string, string>>,
  data: object,
): Promise<InProcessResponse> {
  const body = Buffer.from(JSON.stringify({ data }))
  const request = new IncomingMessage(new UnconnectedSocket())
  request.method = 'POST'
  request.url = path
  request.headers = {
    host: 'localhost',
    'content-type': 'application/json',
    'content-length': String(body.length),
    ...headers,
  }
  request.push(body)
  request.push(null)
  request.complete = true
  return new Promise((resolve, reject) => {
    handle(request, new CollectedResponse(request, resolve, reject))
  })
}

/** A socket without a connection. Limits and the audit log count its requests as those of one address. */
class UnconnectedSocket extends Socket {
  override readonly remoteAddress = 'in-process'
}

/** Collects a response instead of sending it. */
class CollectedResponse extends ServerResponse {
  readonly #chunks: Buffer[] = []
  readonly #resolve: (response: InProcessResponse) => void
  readonly #reject: (error: Error) => void

  constructor(
    request: IncomingMessage,
    resolve: (response: InProcessResponse) => void,
    reject: (error: Error) => void,
  ) {
    super(request)
    this.#resolve = resolve
    this.#reject = reject
  }

  override writeHead(status: number, headers?: unknown): this {
    for (const [name, value] of Object.entries((headers ?? {}) as OutgoingHttpHeaders))
      if (value !== undefined) this.setHeader(name, value)
    return super.writeHead(status)
  }

  override write(chunk: string | Uint8Array): boolean {
    this.#chunks.push(Buffer.from(chunk as string))
    return true
  }

  override end(chunk?: unknown): this {
    if (this.destroyed) return this
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) this.write(chunk)
    this.destroyed = true
    const retryAfter = this.getHeader('retry-after')
    this.#resolve({
      status: this.statusCode,
      retryAfterSeconds: retryAfter === undefined ? undefined : Number(retryAfter),
      requestId: String(this.getHeader('x-request-id')),
      body: JSON.parse(Buffer.concat(this.#chunks).toString()) as unknown,
    })
    this.emit('finish')
    this.emit('close')
    return this
  }

  override destroy(error?: Error): this {
    if (this.destroyed) return this
    this.destroyed = true
    this.#reject(error ?? new Error('the server ended the call without a response'))
    this.emit('close')
    return this
  }
}
