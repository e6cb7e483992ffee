import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'

/** Code of the error that a websocket has whose connection was cut off here. */
export const receivedTooMuch = 'WEFT_RECEIVED_TOO_MUCH'

/**
 * Cuts a connection off that has sent more than it may, whatever it is a part of: `ws` tells of a message when all of it
 * is there, and keeps it until then. It is an error of the websocket, told as those are that `ws` finds itself.
 */
export class ReceiveBound {
  readonly #connection: Duplex
  readonly #count: (chunk: Buffer) => void

  /** @param bytesMax from now on */
  constructor(socket: WebSocket, connection: Duplex, bytesMax: number) {
    let leftBytes = bytesMax
    this.#connection = connection
    this.#count = ({ length }) => {
      leftBytes -= length
      if (leftBytes >= 0) return
      this.lift()
      connection.destroy()
      const problem = `more than ${bytesMax} bytes were sent`
      socket.emit('error', Object.assign(new Error(problem), { code: receivedTooMuch }))
    }
    connection.on('data', this.#count)
  }

  lift(): void {
    this.#connection.off('data', this.#count)
  }
}
