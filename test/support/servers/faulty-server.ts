import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Treatment of one request by a faulty server.
 * - `pass`: the request and its response are passed on.
 * - `refuse`: the connection ends before the request is passed on.
 * - `lose`: the request is passed on and executed, and the connection ends before the response.
 * - `cut`: the connection ends in the middle of the response.
 * - `stall`: the request is passed on, and there is no response.
 * - a response: it is sent instead of a response of the target.
 */
export type Fault =
  | 'pass'
  | 'refuse'
  | 'lose'
  | 'cut'
  | 'stall'
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body: string }

export interface FaultyServer {
  readonly url: string
  /** Treatments of the next requests. When there are none left, requests are passed on. */
  readonly faults: Fault[]
  /** Received requests, with the time of their arrival in milliseconds. */
  readonly requests: { readonly path: string; readonly key: string | undefined; readonly at: number }[]
  readonly stop: () => Promise<void>
}

/**
 * Starts an HTTP server in front of another one, whose faults a test chooses.
 * @param target URL of the other server
 */
export async function startFaultyServer(target: string): Promise<FaultyServer> {
  const faults: Fault[] = []
  const requests: FaultyServer['requests'] = []
  const server = createServer((request, response) => {
    const key = request.headers['idempotency-key']
    requests.push({
      path: request.url ?? '',
      key: typeof key === 'string' ? key : undefined,
      at: performance.now(),
    })
    treat(target, faults.shift() ?? 'pass', request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const stop = async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  return { url: `http://127.0.0.1:${port}`, faults, requests, stop }
}

async function treat(
  target: string,
  fault: Fault,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  if (typeof fault === 'object') {
    response.writeHead(fault.status, fault.headers).end(fault.body)
    return
  }
  if (fault === 'refuse') {
    response.destroy()
    return
  }
  const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers
  const passed = await fetch(target + request.url, {
    method: request.method ?? 'POST',
    headers: headers as Record<string, string>,
    body: Buffer.concat(chunks),
  })
  const body = Buffer.from(await passed.arrayBuffer())
  if (fault === 'lose') response.destroy()
  if (fault === 'lose' || fault === 'stall') return
  const sent = Object.fromEntries(
    [...passed.headers].filter(([name]) => !/^(connection|keep-alive)$/.test(name)),
  )
  response.writeHead(passed.status, { ...sent, 'content-length': body.length })
  if (fault === 'cut') response.write(body.subarray(0, 10), () => response.destroy())
  else response.end(body)
}
