import type { Lease, Leases } from './engine.ts'

/** The leases of a store that no other process uses: no lease needs to be renewed or stored. */
export class LocalLeases implements Leases {
  readonly #held = new Set<string>()

  async acquire(name: string): Promise<Lease | null> {
    if (this.#held.has(name)) return null
    this.#held.add(name)
    const held = { isHeld: true }
    return {
      get isHeld() {
        return held.isHeld
      },
      release: async () => {
        if (held.isHeld) this.#held.delete(name)
        held.isHeld = false
      },
    }
  }
}
