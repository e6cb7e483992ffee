import type { Bus, Cluster } from '../../engine/engine.ts'
import type { ForwardingSigner } from './forwarding-signature.ts'

/** How long a node may take to say where it is, in ms. */
const answerMs = 300

const topicOf = (node: string): string => `address/${node}`

export interface NodeAddressDependencies {
  readonly bus: Bus
  readonly cluster: Cluster
  readonly seal: ForwardingSigner
}

/** Where nodes are reached by others, each asked over the bus when it is first wanted. */
export class NodeAddresses {
  readonly #bus: Bus
  readonly #cluster: Cluster
  readonly #seal: ForwardingSigner
  readonly #known = new Map<string, Promise<URL | null>>()
  readonly #endings: (() => void)[]

  constructor({ bus, cluster, seal }: NodeAddressDependencies) {
    this.#bus = bus
    this.#cluster = cluster
    this.#seal = seal
    this.#endings = [cluster.on('change', () => this.#forgetGone())]
  }

  /** From now on others are told. */
  announce(url: string): void {
    const answer = new TextEncoder().encode(this.#seal.sealUrl(this.#cluster.self, url))
    this.#endings.push(this.#bus.subscribe(topicOf(this.#cluster.self), () => answer))
  }

  /** Null when it does not say. Never rejects. */
  of(node: string): Promise<URL | null> {
    const known = this.#known.get(node)
    if (known !== undefined) return known
    const asked = this.#ask(node)
    this.#known.set(node, asked)
    return asked
  }

  /** Is asked for anew: there may be another process of that name. */
  forget(node: string): void {
    this.#known.delete(node)
  }

  end(): void {
    for (const end of this.#endings) end()
  }

  async #ask(node: string): Promise<URL | null> {
    const said = await this.#bus.request(topicOf(node), new Uint8Array(), answerMs).catch(() => null)
    return said === null ? null : this.#seal.readUrl(node, Buffer.from(said).toString())
  }

  #forgetGone(): void {
    const nodes = new Set(this.#cluster.nodes())
    for (const node of this.#known.keys()) if (!nodes.has(node)) this.#known.delete(node)
  }
}
