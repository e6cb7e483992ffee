import type { Cluster } from '../store/engine.ts'

interface NodeUse {
  /** Id of the node. */
  readonly node: string
  readonly end: () => void
}

/**
 * Ends the connections to nodes that leave the list of nodes. TCP may not notice for minutes that a node has died, and
 * never notices that it is frozen.
 */
export class NodeDepartures {
  readonly #cluster: Pick<Cluster, 'others'>
  readonly #uses = new Set<NodeUse>()
  readonly #unwatch: () => void

  constructor(cluster: Pick<Cluster, 'others' | 'on'>) {
    this.#cluster = cluster
    this.#unwatch = cluster.on('change', () => this.#endLost())
  }

  /**
   * Calls `end` once when the node leaves the list; immediately if it is not in the list.
   * @returns function that ends the watch
   */
  watch(node: string, end: () => void): () => void {
    const use = { node, end }
    if (this.#listed().has(node)) this.#uses.add(use)
    else end()
    return () => void this.#uses.delete(use)
  }

  close(): void {
    this.#unwatch()
  }

  #endLost(): void {
    const listed = this.#listed()
    for (const use of this.#uses) {
      if (listed.has(use.node)) continue
      this.#uses.delete(use)
      use.end()
    }
  }

  #listed(): ReadonlySet<string> {
    return new Set(this.#cluster.others().map(({ id }) => id))
  }
}
