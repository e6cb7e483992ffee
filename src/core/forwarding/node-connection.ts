import {
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http'
import type { Socket } from 'node:net'

/** Maximum time in ms in which a node must accept a connection. */
const connectMs = 2_000
/**
 * Maximum time in ms without a byte of a node in a call or a stream, if the node stays in the list of nodes. It is
 * longer than any call takes.
 */
const silenceMs = 120_000

/** A request to another node, and the start of its response. */
export interface NodeExchange {
  /** The request. The caller writes the rest of its body, if there is more. */
  readonly outgoing: ClientRequest
  readonly response: IncomingMessage
  /** The connection and the bytes after the response, if the node has accepted an upgrade; otherwise null. */
  readonly upgraded: { readonly socket: Socket; readonly head: Buffer } | null
}

/** Thrown if a node has not accepted the connection. It has not received the request. */
export class NodeNotReachedError extends Error {
  override readonly name = 'NodeNotReachedError'
}

/**
 * Sends a request to a node. Resolves when the headers of the response have arrived.
 * @param write writes the body, or its start
 * @param watch calls its parameter when the node leaves the list of nodes, until the returned function is called
 * @throws NodeNotReachedError; any other error: the node may have received the request
 */
export function openExchange(
  options: RequestOptions,
  write: (outgoing: ClientRequest) => void,
  watch: (end: () => void) => () => void,
): Promise<NodeExchange> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ ...options, timeout: silenceMs })
    let isConnected = false
    let timer: NodeJS.Timeout | undefined
    const connected = (): void => {
      isConnected = true
      clearTimeout(timer)
    }
    outgoing.once('socket', (socket) => {
      if (!socket.connecting) return connected()
      timer = setTimeout(() => outgoing.destroy(new Error('the node does not accept connections')), connectMs)
      socket.once('connect', connected)
    })
    outgoing.once('timeout', () => outgoing.destroy(new Error('the node is silent')))
    outgoing.on('error', (cause) => {
      clearTimeout(timer)
      reject(isConnected ? cause : new NodeNotReachedError(cause.message, { cause }))
    })
    let received: IncomingMessage | null = null
    outgoing.once('response', (response) => {
      received = response
      resolve({ outgoing, response, upgraded: null })
    })
    outgoing.once('upgrade', (response, socket: Socket, head) => {
      socket.setTimeout(0)
      resolve({ outgoing, response, upgraded: { socket, head } })
    })
    const unwatch = watch(() => {
      // A client may still read a response that is complete.
      if (received?.complete !== true)
        (received ?? outgoing).destroy(new Error('the node has left the list of nodes'))
    })
    outgoing.once('close', unwatch)
    write(outgoing)
  })
}
