import type { Duplex } from 'node:stream'

/**
 * Cuts a connection off that has sent more than it may, whatever it is a part of: `ws` tells of a message when all of it
 * is there, and keeps it until then.
 */
export class ReceiveBound {
  readonly #connection: Duplex
  readonly #count: (chunk: Buffer) => void

  /** @param bytesMax from now on */
  constructor(connection: Duplex, bytesMax: number) {
    let leftBytes = bytesMax
    this.#connection = connection
    this.#count = ({ length }) => {
      leftBytes -= length
      if (leftBytes < 0) connection.destroy()
    }
    connection.on('data', this.#count)
  }

  lift(): void {
    this.#connection.off('data', this.#count)
  }
}
