import { once } from 'node:events'
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2'
import { Readable } from 'node:stream'

interface Sent {
  readonly url: URL
  readonly method: string
  readonly headers: Record<string, string>
  readonly body: Uint8Array | undefined
  readonly signal: AbortSignal | undefined
}

async function sentOf(input: Parameters<typeof fetch>[0], init: RequestInit = {}): Promise<Sent> {
  const { method = 'GET', headers, body, signal } = init
  const blob = body instanceof Blob ? body : undefined
  return {
    url: new URL(input as URL),
    method,
    headers: { ...(headers as Record<string, string>), ...(blob && { 'content-type': blob.type }) },
    body: blob && new Uint8Array(await blob.arrayBuffer()),
    signal: signal ?? undefined,
  }
}

const responseOf = (body: Readable, status: number): Response =>
  new Response(Readable.toWeb(body) as ReadableStream, { status })

/** Returns `fetch` over HTTP/1.1 with at most six connections to an origin, as browsers have. */
export function fetchOverSix(): typeof fetch {
  const agent = new Agent({ keepAlive: true, maxSockets: 6 })
  return async (input, init) => {
    const { url, body, signal, ...options } = await sentOf(input, init)
    const request = httpRequest(url, { ...options, agent, ...(signal && { signal }) })
    request.end(body)
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    return responseOf(response, response.statusCode as number)
  }
}

/** Returns `fetch` over one connection of HTTP/2. It accepts each certificate. */
export function fetchOverHttp2(): typeof fetch {
  let session: ClientHttp2Session | undefined
  return async (input, init) => {
    const { url, method, headers, body, signal } = await sentOf(input, init)
    if (session === undefined || session.closed || session.destroyed) {
      session = connect(url.origin, { rejectUnauthorized: false })
      session.on('error', () => {}).unref()
    }
    const path = url.pathname + url.search
    const stream = session.request(
      { ':method': method, ':path': path, ...headers },
      { endStream: body === undefined, ...(signal && { signal }) },
    )
    if (body !== undefined) stream.end(body)
    const [received] = (await once(stream, 'response')) as [IncomingHttpHeaders]
    return responseOf(stream, Number(received[':status']))
  }
}
