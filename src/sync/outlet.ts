import type { Duplex } from 'node:stream'

/**
 * The sending side of one websocket. Whole frames go straight to the connection (`ws` writes whole frames too, so
 * they never mix); what is written in one turn of the event loop becomes one system call.
 */
export class Outlet {
  readonly #connection: Duplex
  #corked = false

  constructor(connection: Duplex) {
    this.#connection = connection
  }

  /** What the operating system has not taken yet. */
  get waitingBytes(): number {
    return this.#connection.writableLength
  }

  write(frames: Uint8Array): void {
    if (!this.#corked) {
      this.#corked = true
      this.#connection.cork()
      process.nextTick(this.#uncork)
    }
    this.#connection.write(frames)
  }

  /** Calls `fn` once when all that is waiting has been handed to the operating system; never on a dead connection. */
  whenDrained(fn: () => void): void {
    this.#connection.write('', (error) => {
      if (error == null) fn()
    })
  }

  readonly #uncork = (): void => {
    this.#corked = false
    this.#connection.uncork()
  }
}
