import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { SlowTransfers, Transfer } from '../../quota/slow-transfers.ts'
import { pieceCostBytes } from '../../quota/tick-shares.ts'
import { frameHeaderBytes, framePayloadBytes } from '../protocols/frame.ts'
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

/** Maximum number of bytes that a rejected client may send. Each frame counts as `pieceCostBytes` more. */
export const rejectedBytesMax = 65_536

/** Code of the error of a websocket whose client sends too much while it is closed. */
export const tooMuchAfterClose = 'TOO_MUCH_AFTER_CLOSE'

/**
 * Ends the connection of a websocket that is being closed when its client sends more than `bytesMax`, also after the
 * close frame. Each frame counts as `pieceCostBytes` more.
 */
export function limitClosing(socket: WebSocket, connection: Duplex, bytesMax: number): void {
  const boundaries = new FrameBoundaries()
  let bytes = 0
  const count = (chunk: Buffer): void => {
    bytes += chunk.length
    boundaries.pass(chunk)
    if (bytes + boundaries.frames * pieceCostBytes <= bytesMax) return
    connection.off('data', count)
    endWithError(socket, connection, tooMuchAfterClose, `more than ${bytesMax} bytes after the close`)
  }
  connection.on('data', count)
}

/** Length of the longest frame header in bytes. */
const headerBytesMax = 14

/**
 * Finds the ends of messages in the bytes of a websocket, by following its frames (RFC 6455 5.2). Keeps no
 * bytes except the start of an incomplete header.
 */
export class FrameBoundaries {
  /** The first bytes of a header that continues in the next chunk. */
  #header: number[] = []
  /**
   * Number of payload bytes of the current frame that have not arrived yet. Not valid while the header is
   * incomplete.
   */
  #remainingBytes = 0
  /** True if a message that consists of several frames is incomplete. */
  #isFragmented = false
  /** Number of frames that have begun. */
  frames = 0
  /** Number of these that are not the last frame of a message: control frames and earlier fragments. */
  extraFrames = 0

  /** True if the bytes so far end exactly at the end of a message. */
  get #isComplete(): boolean {
    return !this.#isFragmented && this.#remainingBytes === 0 && this.#header.length === 0
  }

  /**
   * Processes the next chunk of bytes. Returns the offset in the chunk after its last complete message; 0 if
   * the chunk starts a message that it does not complete; -1 if it continues a message without completing
   * any.
   */
  pass(chunk: Uint8Array): number {
    let completeTo = this.#isComplete ? 0 : -1
    for (let at = 0; at < chunk.length; ) {
      at = this.#step(chunk, at)
      if (this.#isComplete) completeTo = at
    }
    return completeTo
  }

  #step(chunk: Uint8Array, at: number): number {
    if (this.#remainingBytes > 0) {
      const passed = Math.min(this.#remainingBytes, chunk.length - at)
      this.#remainingBytes -= passed
      return at + passed
    }
    if (this.#header.length === 0 && chunk.length - at >= headerBytesMax) {
      const headerBytes = frameHeaderBytes(chunk[at + 1] as number)
      this.#begin(chunk, at)
      return at + headerBytes
    }
    this.#header.push(chunk[at] as number)
    const [, second] = this.#header
    if (second !== undefined && this.#header.length === frameHeaderBytes(second)) {
      this.#begin(this.#header, 0)
      this.#header = []
    }
    return at + 1
  }

  /** Starts a frame. @param header bytes that contain a whole frame header at offset `at` */
  #begin(header: ArrayLike<number>, at: number): void {
    const first = header[at] as number
    const isControl = (first & 0x08) !== 0
    if (!isControl) this.#isFragmented = (first & 0x80) === 0
    this.frames += 1
    if (isControl || this.#isFragmented) this.extraFrames += 1
    this.#remainingBytes = framePayloadBytes(header, at)
  }
}
