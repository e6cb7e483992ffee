import { IncomingMessage, type OutgoingHttpHeaders, type RequestListener, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { forwardedRequests } from '../../core/access/forwarded-requests.ts'

interface InProcessResponse {
  readonly status: number
  /** The header `retry-after`, if there is one. */
  readonly retryAfterSeconds: number | undefined
  readonly requestId: string
  /** JSON in UTF-8. */
  readonly body: Uint8Array
}

/** The client for which the server makes a request. */
export interface InProcessClient {
  /** Address that limits and the audit log count. */
  readonly address: string
  /** Name of the tool that the client has called. */
  readonly tool: string
}

/** A request without a connection. */
export class InProcessRequest extends IncomingMessage {
  /** Null if a program in this process makes the request for itself. */
  readonly client: InProcessClient | null

  constructor(client: InProcessClient | null) {
    super(new UnconnectedSocket(client?.address ?? 'in-process'))
    this.client = client
  }
}

/** Returns the name of the tool for which a server of the cluster makes a request; null for all other requests. */
export const toolOf = (request: IncomingMessage): string | null =>
  request instanceof InProcessRequest
    ? (request.client?.tool ?? null)
    : (forwardedRequests.get(request)?.tool ?? null)

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
  client: InProcessClient | null = null,
): Promise<InProcessResponse> {
  const body = Buffer.from(JSON.stringify({ data }))
  const request = new InProcessRequest(client)
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

/** A socket without a connection. */
class UnconnectedSocket extends Socket {
  override readonly remoteAddress: string

  constructor(remoteAddress: string) {
    super()
    this.remoteAddress = remoteAddress
  }
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
      body: Buffer.concat(this.#chunks),
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
