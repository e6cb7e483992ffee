import type { Key } from '../../store/engine.ts'
import type { MultiplexedRequest } from '../admission/sync-request.ts'
import type { SyncDependencies } from '../sync-dependencies.ts'
import type { DocumentChannel } from './document-channel.ts'
import { DocumentTunnel } from './document-tunnel.ts'
import type { MultiplexedSocket } from './multiplexed-socket.ts'

/** The tunnels of one multiplexed connection: at most one to each node. */
export class ConnectionTunnels {
  readonly #client: MultiplexedSocket
  readonly #dependencies: SyncDependencies
  readonly #clientAddress: string
  readonly #request: Pick<MultiplexedRequest, 'origin' | 'schemaVersion'>
  readonly #tunnels = new Map<string, DocumentTunnel>()

  /** @param request the request of the client, whose facts are passed on */
  constructor(
    client: MultiplexedSocket,
    dependencies: SyncDependencies,
    clientAddress: string,
    request: Pick<MultiplexedRequest, 'origin' | 'schemaVersion'>,
  ) {
    this.#client = client
    this.#dependencies = dependencies
    this.#clientAddress = clientAddress
    this.#request = request
  }

  /**
   * Passes the messages of a channel to the node that owns its document. Resolves with false if the node cannot be
   * reached.
   * @param opening the message with which the client has opened the document
   */
  async carry(
    channel: DocumentChannel,
    document: Key,
    workspaceId: string,
    opening: Buffer,
  ): Promise<boolean> {
    const tunnel = this.#tunnelTo(document, workspaceId)
    if (tunnel === null) return false
    return tunnel.carry(channel, opening).then(
      () => true,
      () => false,
    )
  }

  close(): void {
    for (const tunnel of this.#tunnels.values()) tunnel.close()
  }

  #tunnelTo(document: Key, workspaceId: string): DocumentTunnel | null {
    const { forwarder, backpressure, metrics } = this.#dependencies
    const node = forwarder.ownerOf(document)
    const known = this.#tunnels.get(node)
    if (known !== undefined) return known
    const { origin, schemaVersion } = this.#request
    const path = `/hocuspocus${schemaVersion === null ? '' : `?schemaVersion=${schemaVersion}`}`
    const handshake = forwarder.handshake(node, path, this.#clientAddress, origin)
    if (handshake === null) return null
    const options = { handshake, client: this.#client, workspaceId, backpressure, metrics }
    const tunnel: DocumentTunnel = new DocumentTunnel(options, () => {
      unwatch()
      if (this.#tunnels.get(node) === tunnel) this.#tunnels.delete(node)
    })
    this.#tunnels.set(node, tunnel)
    const unwatch = forwarder.departures.watch(node, () => tunnel.terminate())
    return tunnel
  }
}
