import type { Cluster } from '../../engine/engine.ts'
import { close } from '../../model/close.ts'
import type { ClientSocket } from '../socket/client-socket.ts'

const gone = close('serviceRestart', 'the forwarding node stopped; reconnect')

/**
 * Clients whom other nodes have passed on to this one. A node that stops dead ends no connection: without this its clients
 * would be there, for everybody who sees who is, until they have not answered for long.
 */
export class ForwardedClientRegistry {
  readonly #cluster: Cluster
  /** By the nodes that they came through. */
  readonly #sockets = new Map<string, Set<ClientSocket>>()
  readonly #unwatch: () => void

  constructor(cluster: Cluster) {
    this.#cluster = cluster
    this.#unwatch = cluster.on('change', () => this.#endGone())
  }

  /** @param from whoever is not in the list of nodes may have come a moment ago: it is looked at when that changes */
  add(from: string, socket: ClientSocket): void {
    const sockets = this.#sockets.get(from) ?? new Set()
    this.#sockets.set(from, sockets.add(socket))
    socket.onClosed(() => {
      sockets.delete(socket)
      if (sockets.size === 0 && this.#sockets.get(from) === sockets) this.#sockets.delete(from)
    })
  }

  end(): void {
    this.#unwatch()
  }

  /** Nobody may be there to answer. Where somebody is, and only this node cannot tell, clients are told to come back. */
  #endGone(): void {
    const nodes = new Set(this.#cluster.nodes())
    for (const [node, sockets] of this.#sockets) {
      if (nodes.has(node)) continue
      this.#sockets.delete(node)
      for (const socket of sockets) {
        socket.close(gone.code, gone.reason)
        socket.terminate()
      }
    }
  }
}
