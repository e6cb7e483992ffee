import type { IncomingMessage } from 'node:http'
import { type ForwardError, OwnerUnreachableError } from '../../forwarding/forwarder.ts'
import { type Close, close } from '../../model/close.ts'
import type { Key } from '../../store/engine.ts'
import { keyName } from '../../store/key-encoding.ts'
import { ForwardedSocket } from '../socket/forwarded-socket.ts'
import type { UpgradeRequest } from '../socket/websocket-upgrader.ts'
import type { SyncDependencies } from '../sync-dependencies.ts'

/** Forwards websockets to the nodes that own their documents. */
export class WebsocketForwarder {
  readonly #dependencies: SyncDependencies
  readonly #sockets = new Set<ForwardedSocket>()

  constructor(dependencies: SyncDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Forwards the connection of an authenticated client. Resolves with false if this node owns the document.
   * @param editorId the editor of the document that the client opens
   * @throws ApiError UNAVAILABLE
   */
  async forward(
    { request, connection, head, address }: UpgradeRequest,
    document: Key,
    editorId: string,
  ): Promise<boolean> {
    const { forwarder, frameReceiver } = this.#dependencies
    const number = frameReceiver.nextNumber()
    const gone = new AbortController()
    connection.once('close', () => gone.abort())
    const exchange = await forwarder.send(
      request,
      document,
      {
        kind: 'websocket',
        clientAddress: address,
        websocket: number,
        headers: { connection: 'Upgrade', upgrade: 'websocket' },
        repeat: 'always',
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
    const client = { client: request.socket, head }
    const socket = new ForwardedSocket(client, { node, number }, upgraded, this.#dependencies)
    this.#sockets.add(socket)
    const unwatch = forwarder.departures.watch(node, () => socket.end(nodeLost))
    const leave = frameReceiver.enter(keyName([...document, editorId]), socket)
    socket.onClosed(() => {
      this.#sockets.delete(socket)
      unwatch()
      leave()
    })
    return true
  }

  /** Returns one function for each forwarded websocket, which closes the websocket. */
  closersFor(reason: Close): readonly (() => void)[] {
    return [...this.#sockets].map((socket) => () => socket.end(reason))
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
