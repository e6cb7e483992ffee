import type { Bus, Cluster, Key } from '../../engine/engine.ts'
import type { Log } from '../../log.ts'
import { type Close, close } from '../../model/close.ts'
import type { UpgradeRequest } from '../connect/upgrade-request.ts'
import type { ClientSocket } from '../socket/client-socket.ts'
import { connectToNode, type NodeConnection } from './connect-to-node.ts'
import { ForwardedClientRegistry } from './forwarded-clients.ts'
import {
  type ForwardedClient,
  type ForwardingHeader,
  type ForwardingSigner,
  forwardingHeader,
} from './forwarding-signature.ts'
import { NodeAddresses } from './node-addresses.ts'
import { SocketProxy } from './socket-proxy.ts'

/** How long the home of a document may take to answer, in ms. */
const reachMs = 700
/** A node that could not be reached is not asked again for so long, in ms. */
const awayMs = 5_000

export interface ForwardingDependencies {
  readonly bus: Bus
  readonly cluster: Cluster
  readonly seal: ForwardingSigner
  readonly logger: Log
}

/**
 * Sends clients to the node at which their document is at home, through this one, so that it is open there alone. Whom
 * that node does not take is served here: nothing depends on it.
 */
export class Forwarding {
  readonly #parts: ForwardingDependencies
  readonly #addresses: NodeAddresses
  readonly #passedOn: ForwardedClientRegistry
  /** Who is served elsewhere, and where. */
  readonly #passages = new Map<SocketProxy, string>()
  /** Nodes that could not be reached, until when they are not asked. */
  readonly #away = new Map<string, number>()
  readonly #unwatch: () => void
  #draining: Close | null = null

  constructor(parts: ForwardingDependencies) {
    this.#parts = parts
    this.#addresses = new NodeAddresses(parts)
    this.#passedOn = new ForwardedClientRegistry(parts.cluster)
    this.#unwatch = parts.cluster.on('change', () => this.#leaveGone())
  }

  /** Clients that are served elsewhere now. */
  get size(): number {
    return this.#passages.size
  }

  /** From now on other nodes know where this one is. */
  announce(url: string): void {
    this.#addresses.announce(url)
  }

  /** Does another node say that this client is at its door? */
  read({ headers, url = '' }: UpgradeRequest['request']): ForwardingHeader {
    return this.#parts.seal.read(headers, { to: this.#parts.cluster.self, url })
  }

  /** Another node has passed this client on. */
  received(socket: ClientSocket, { from }: ForwardedClient): void {
    this.#passedOn.add(from, socket)
  }

  /** True when the client is served elsewhere, or gone. Never rejects. */
  async forward(knock: UpgradeRequest, document: Key): Promise<boolean> {
    const { cluster, seal } = this.#parts
    const { request, address, connection } = knock
    const home = cluster.home(document)
    if (home === cluster.self || request.headers[forwardingHeader] !== undefined || this.#isAway(home))
      return false
    const url = await this.#addresses.of(home)
    const hop = seal.seal({ to: home, url: request.url ?? '' }, { from: cluster.self, address })
    const reached: NodeConnection =
      url === null ? { kind: 'away' } : await connectToNode(url, knock, hop, reachMs)
    if (reached.kind === 'away') this.#missed(home)
    if (reached.kind !== 'taken') return connection.destroyed
    this.#pass(knock, home, reached)
    return true
  }

  /** From now on nobody is passed on. Returns what tells those to go who are. */
  drain(reason: Close): readonly (() => void)[] {
    this.#draining = reason
    return [...this.#passages.keys()].map((passage) => () => passage.leave(reason))
  }

  end(): void {
    this.#unwatch()
    this.#passedOn.end()
    this.#addresses.end()
  }

  #isAway(node: string): boolean {
    const until = this.#away.get(node)
    if (until === undefined) return false
    if (performance.now() < until) return true
    this.#away.delete(node)
    return false
  }

  #missed(node: string): void {
    this.#addresses.forget(node)
    if (!this.#isAway(node))
      this.#parts.logger.warn({ node }, 'a node cannot be reached: its documents are served here meanwhile')
    this.#away.set(node, performance.now() + awayMs)
  }

  #pass(
    { connection, head }: UpgradeRequest,
    node: string,
    reached: Extract<NodeConnection, { kind: 'taken' }>,
  ): void {
    if (connection.destroyed) return void reached.connection.destroy()
    connection.write(reached.answer)
    if (reached.head.length > 0) reached.connection.unshift(reached.head)
    if (head.length > 0) connection.unshift(head)
    const ended = (): void => void this.#passages.delete(passage)
    const passage: SocketProxy = new SocketProxy(connection, reached.connection, ended)
    this.#passages.set(passage, node)
    const isGone = !this.#parts.cluster.nodes().includes(node)
    const reason = this.#draining ?? (isGone ? gone : null)
    if (reason !== null) passage.leave(reason)
  }

  /** A node that has stopped dead ends no connection. */
  #leaveGone(): void {
    const nodes = new Set(this.#parts.cluster.nodes())
    for (const [passage, node] of this.#passages) if (!nodes.has(node)) passage.leave(gone)
    for (const node of this.#away.keys()) if (!nodes.has(node)) this.#away.delete(node)
  }
}

const gone = close('serviceRestart', 'the serving node stopped; reconnect')
