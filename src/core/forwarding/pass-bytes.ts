import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import type { Writable } from 'node:stream'
import type { Metrics } from '../metrics/metrics.ts'
import { OwnerUnreachableError } from './forwarder.ts'

/** Headers of a response that belong to one connection. */
const connectionHeaders: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding'])

/** Returns a signal that aborts when the response is complete, or when its client has disconnected. */
export function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  return gone.signal
}

/**
 * Sends the response of another node to a client, at the speed of the client. Resolves when it is complete, or when the
 * client has disconnected.
 * @param behind called when the client has not read enough, with the bytes that wait
 * @throws ApiError UNAVAILABLE if the node does not send the whole response
 */
export async function passResponse(
  received: IncomingMessage,
  response: ServerResponse,
  { forwarded }: Pick<Metrics, 'forwarded'>,
  behind: (bytes: number) => void = () => {},
): Promise<void> {
  for (const [name, value] of Object.entries(received.headers))
    if (value !== undefined && !connectionHeaders.has(name)) response.setHeader(name, value)
  response.writeHead(received.statusCode ?? 502)
  try {
    for await (const bytes of received as AsyncIterable<Buffer>) {
      if (response.destroyed) return
      forwarded.bytes.response += bytes.length
      if (response.write(bytes)) continue
      behind(bytes.length)
      await drained(response)
    }
  } catch (error) {
    if (response.destroyed) return
    throw new OwnerUnreachableError(error)
  }
  response.end()
}

/**
 * Sends the rest of a body to another node, at the speed of the node. Resolves when it is complete, or when the node
 * accepts no more.
 * @throws errors of `body`
 */
export async function passBody(
  body: AsyncIterable<Buffer>,
  outgoing: ClientRequest,
  { forwarded }: Pick<Metrics, 'forwarded'>,
): Promise<void> {
  for await (const bytes of body) {
    if (outgoing.destroyed) return
    forwarded.bytes.request += bytes.length
    if (!outgoing.write(bytes)) await drained(outgoing)
  }
  outgoing.end()
}

/** Resolves when the receiver can accept more, or is closed. */
export function drained(receiver: Writable): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      receiver.off('drain', settle).off('close', settle)
      resolve()
    }
    receiver.on('drain', settle).on('close', settle)
  })
}
