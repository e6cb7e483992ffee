import type { Duplex } from 'node:stream'

/**
 * The sending side of one websocket. Whole frames go straight to the connection (`ws` writes whole frames too, so
 * they never mix); what is written in one turn of the event loop becomes one system call.
 */
export class Outlet {
  readonly #connection: Duplex
  readonly #bufferBytesMax: number
  #corked = false
  /** When the last frame was written, or the start, in the time that is given here. */
  lastWriteAt: number

  constructor(connection: Duplex, bufferBytesMax: number, now: number) {
    this.lastWriteAt = now
    this.#connection = connection
    this.#bufferBytesMax = bufferBytesMax
  }

  /** More is waiting than a reader may be behind. */
  get full(): boolean {
    return this.#connection.writableLength > this.#bufferBytesMax
  }

  write(frames: Uint8Array, now: number): void {
    this.lastWriteAt = now
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
