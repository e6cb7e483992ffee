import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { SlowTransfers, Transfer } from '../../quota/slow-transfers.ts'
import { FrameBoundaries } from './frame-boundaries.ts'

/** Error code of a websocket whose incomplete message was too large before authentication. */
export const messageTooEarly = 'WEFT_MESSAGE_TOO_EARLY'
/** Error code of a websocket whose client took too long to finish a message, or to read. */
export const transferTooSlow = 'WEFT_TRANSFER_TOO_SLOW'

/** Memory that each chunk takes in addition to its bytes: the buffer object and its list entry. */
const chunkBytes = 256

/**
 * Called with the received bytes of the incomplete message, and with its bytes in memory. Both are 0 if no
 * message is incomplete.
 */
export type IncompleteChanged = (messageBytes: number, keptBytes: number) => void

/**
 * Counts the bytes of the incomplete message of one websocket. `ws` keeps the chunks of a message until the
 * message is complete, including control frames between its fragments. Counting costs a few operations for
 * each chunk.
 */
export class IncompleteMessage implements Transfer {
  readonly #socket: WebSocket
  readonly #connection: Duplex
  readonly #transfers: SlowTransfers
  readonly #changed: IncompleteChanged
  readonly #boundaries = new FrameBoundaries()
  /** Bytes since the first byte of the message. */
  #messageBytes = 0
  /** Bytes of all chunks since the chunk with the first byte of the message. */
  #keptBytes = 0
  #bytesMax: number | null = null

  constructor(socket: WebSocket, connection: Duplex, transfers: SlowTransfers, changed: IncompleteChanged) {
    this.#socket = socket
    this.#connection = connection
    this.#transfers = transfers
    this.#changed = changed
    // This listener runs after the listener of `ws`, which has delivered the complete messages of the chunk.
    connection.on('data', (chunk: Buffer) => this.#received(chunk))
    connection.on('close', () => this.#set(0, 0))
  }

  /**
   * Maximum bytes of an incomplete message; the connection is closed above it. Null: only `maxPayload` of
   * `ws` limits the message.
   */
  set bytesMax(bytesMax: number | null) {
    this.#bytesMax = bytesMax
  }

  get transferredBytes(): number {
    return this.#messageBytes
  }

  get isPaused(): boolean {
    return this.#socket.isPaused
  }

  tooSlow(): void {
    this.#fail(transferTooSlow, 'the message took too long')
  }

  #received(chunk: Buffer): void {
    const completeTo = this.#boundaries.pass(chunk)
    if (completeTo === chunk.length) {
      if (this.#keptBytes > 0) this.#set(0, 0)
    } else if (completeTo === -1) {
      this.#set(this.#messageBytes + chunk.length, this.#keptBytes + chunk.length + chunkBytes)
    } else {
      this.#transfers.delete(this)
      this.#set(chunk.length - completeTo, chunk.length + chunkBytes)
    }
  }

  #set(messageBytes: number, keptBytes: number): void {
    this.#messageBytes = messageBytes
    if (keptBytes > 0) this.#transfers.add(this)
    else this.#transfers.delete(this)
    if (keptBytes !== this.#keptBytes) {
      this.#keptBytes = keptBytes
      this.#changed(messageBytes, keptBytes)
    }
    if (this.#bytesMax !== null && messageBytes > this.#bytesMax)
      this.#fail(messageTooEarly, `more than ${this.#bytesMax} bytes before authentication`)
  }

  #fail(code: string, problem: string): void {
    endWithError(this.#socket, this.#connection, code, problem)
  }
}

/** Closes a connection immediately. The websocket emits the error, in the same way as errors of `ws`. */
export function endWithError(socket: WebSocket, connection: Duplex, code: string, problem: string): void {
  if (connection.destroyed) return
  connection.destroy()
  socket.emit('error', Object.assign(new Error(problem), { code }))
}
