import type { IncomingMessage } from 'node:http'
import { type ForwardError, type Forwarder, OwnerUnreachableError } from '../../forwarding/forwarder.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import { type Close, close } from '../../model/close.ts'
import type { Cluster, Key } from '../../store/engine.ts'
import { ForwardedSocket } from '../socket/forwarded-socket.ts'
import type { UpgradeRequest } from '../socket/websocket-upgrader.ts'

interface Dependencies {
  readonly forwarder: Forwarder
  readonly cluster: Pick<Cluster, 'others' | 'on'>
  readonly metrics: Metrics
}

/** Forwards websockets to the nodes that own their documents. */
export class WebsocketForwarder {
  readonly #dependencies: Dependencies
  readonly #sockets = new Set<ForwardedSocket>()
  readonly #unwatch: () => void

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#unwatch = dependencies.cluster.on('change', () => this.#endLost())
  }

  /**
   * Forwards the connection of an authenticated client. Resolves with false if this node owns the document.
   * @throws ApiError UNAVAILABLE
   */
  async forward({ request, connection, head, address }: UpgradeRequest, document: Key): Promise<boolean> {
    const { forwarder, metrics } = this.#dependencies
    const gone = new AbortController()
    connection.once('close', () => gone.abort())
    const exchange = await forwarder.send(
      request,
      document,
      {
        kind: 'websocket',
        clientAddress: address,
        headers: { connection: 'Upgrade', upgrade: 'websocket' },
        write: (outgoing) => void outgoing.end(),
      },
      gone.signal,
    )
    if (exchange === null) return false
    const { node, response, upgraded } = exchange
    if (upgraded === null) {
      response.resume()
      throw new OwnerUnreachableError(
        new Error(`the node has answered an upgrade with ${response.statusCode}`),
      )
    }
    connection.write(headOf(response))
    const socket = new ForwardedSocket(node, request.socket, head, upgraded, metrics)
    this.#sockets.add(socket)
    socket.onClosed(() => this.#sockets.delete(socket))
    return true
  }

  /** Returns one function for each forwarded websocket, which closes the websocket. */
  closersFor(reason: Close): readonly (() => void)[] {
    return [...this.#sockets].map((socket) => () => socket.end(reason))
  }

  end(): void {
    this.#unwatch()
  }

  /** Closes the websockets whose nodes have died. TCP may not notice it for minutes. */
  #endLost(): void {
    const alive = new Set(this.#dependencies.cluster.others().map(({ id }) => id))
    for (const socket of this.#sockets) if (!alive.has(socket.node)) socket.end(nodeLost)
  }
}

const nodeLost = close('serviceRestart', 'the node of the document has stopped; reconnect')

/** Returns the close reason for a client whose request could not be forwarded. */
export const closeOfForward = (error: ForwardError): Close =>
  close(error.code === 'cluster/document-moved' ? 'serviceRestart' : 'tryAgainLater', error.message)

/** Returns the head of the response to an upgrade, as it was received. */
function headOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage): string {
  const lines: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`)
  return `${[`HTTP/1.1 ${statusCode} ${statusMessage}`, ...lines].join('\r\n')}\r\n\r\n`
}
