import { StoreUnavailable } from '../engine.ts'

/** What every part asks first: is the engine still open? */
export class Gate {
  #isOpen = true

  /** @throws StoreUnavailable after `close` */
  pass(): void {
    if (!this.#isOpen) throw new StoreUnavailable('the store is closed')
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  close(): void {
    this.#isOpen = false
  }
}
