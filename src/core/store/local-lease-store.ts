import type { LeaseStore, NamedLease } from './engine.ts'

/** Provides leases if no other process uses the store. These leases are neither renewed nor stored. */
export class LocalLeaseStore implements LeaseStore {
  readonly #held = new Set<string>()

  async acquire(name: string): Promise<NamedLease | null> {
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
