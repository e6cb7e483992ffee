import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { SlowTransfers, Transfer } from '../../quota/slow-transfers.ts'
import { FrameBoundaries } from './frame-boundaries.ts'
import type { MessageCutter } from './message-cutter.ts'

/**
 * Error code for a websocket whose client has sent too many bytes of an incomplete message before
 * authentication.
 */
export const messageTooEarly = 'WEFT_MESSAGE_TOO_EARLY'
/**
 * Error code for a websocket whose client took too long to finish a message, or to read the bytes sent to it.
 */
export const transferTooSlow = 'WEFT_TRANSFER_TOO_SLOW'

/** Memory in bytes that each chunk takes in addition to its content: the buffer object and its list entry. */
const chunkBytes = 256

/**
 * Called when the incomplete message has changed. `messageBytes` is the number of its received bytes,
 * `keptBytes` is the memory in bytes that it takes. Both are 0 if no message is incomplete.
 */
export type IncompleteChanged = (messageBytes: number, keptBytes: number) => void

/** Called after a read with the number of its frames that are not the last frame of a message; at least 1. */
type ExtraFramesReceived = (frames: number) => void

/**
 * Counts the received bytes of the incomplete message of one websocket. `ws` keeps the chunks of a message in
 * memory until the message is complete, including control frames between its fragments. Counting costs a few
 * operations for each chunk.
 */
export class IncompleteMessage implements Transfer {
  readonly #socket: WebSocket
  readonly #connection: Duplex
  readonly #transfers: SlowTransfers
  readonly #changed: IncompleteChanged
  readonly #extraFrames: ExtraFramesReceived
  readonly #boundaries = new FrameBoundaries()
  /** Drops the rest of messages that are too large; null if they close the websocket. */
  readonly #cutter: MessageCutter | null
  /** Number of bytes received since the start of the message. */
  #messageBytes = 0
  /** Memory in bytes of all chunks since the chunk that contains the start of the message. */
  #keptBytes = 0
  #bytesMax: number | null = null

  constructor(
    socket: WebSocket,
    connection: Duplex,
    transfers: SlowTransfers,
    changed: IncompleteChanged,
    extraFrames: ExtraFramesReceived,
    cutter: MessageCutter | null = null,
  ) {
    this.#socket = socket
    this.#connection = connection
    this.#transfers = transfers
    this.#changed = changed
    this.#extraFrames = extraFrames
    this.#cutter = cutter
    // This listener runs after the listener of `ws`. By then, `ws` has delivered the complete messages of the
    // chunk.
    connection.on('data', (chunk: Buffer) => this.#received(chunk))
    connection.on('close', () => this.#set(0, 0))
  }

  /**
   * Maximum bytes of an incomplete message; above it, the connection is closed. Null: only the option
   * `maxPayload` of `ws` limits the message.
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
    const earlier = this.#boundaries.extraFrames
    const completeTo = this.#boundaries.pass(chunk)
    const extra = this.#boundaries.extraFrames - earlier
    if (extra > 0) this.#extraFrames(extra)
    if (completeTo === chunk.length) {
      if (this.#keptBytes > 0) this.#set(0, 0)
    } else if (completeTo === -1) {
      const keptBytes = this.#cutter?.isCutting === true ? 0 : chunk.length + chunkBytes
      this.#set(this.#messageBytes + chunk.length, this.#keptBytes + keptBytes)
    } else {
      this.#transfers.delete(this)
      this.#set(chunk.length - completeTo, chunk.length + chunkBytes)
    }
  }

  #set(messageBytes: number, keptBytes: number): void {
    this.#messageBytes = messageBytes
    if (keptBytes > 0) this.#transfers.add(this)
    else this.#transfers.delete(this)
    if (keptBytes !== this.#keptBytes || this.#cutter?.isCutting === true) {
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

/**
 * Closes a connection immediately. The websocket emits an `error` event with the code and the problem, as it
 * does for errors of `ws`.
 */
export function endWithError(socket: WebSocket, connection: Duplex, code: string, problem: string): void {
  if (connection.destroyed) return
  connection.destroy()
  socket.emit('error', Object.assign(new Error(problem), { code }))
}
