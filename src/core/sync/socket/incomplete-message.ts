import type { Duplex, Writable } from 'node:stream'
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

/** Called with the number of frames that are not the last frame of a message; at least 1. */
type ExtraFramesReceived = (frames: number) => void

/** Number of frames that `ws` receives before the next check whether the websocket was paused. */
const framesAtOnce = 10

/**
 * Reads one websocket: passes its bytes to `ws`, a few frames at a time, and counts the received bytes of its
 * incomplete message. `ws` keeps the chunks of a message in memory until the message is complete, including control
 * frames between its fragments. Counting costs a few operations for each chunk.
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
    interceptReads(socket, (chunk, read) => this.#read(chunk, read))
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

  /**
   * Passes a chunk to `ws` until the websocket is paused. `ws` alone would deliver thousands of small frames of one
   * chunk after the pause. The rest is read when the websocket is resumed. A websocket that is being closed discards
   * all that it reads.
   */
  #read(chunk: Buffer, read: ReadChunk): boolean {
    let isEmpty = true
    for (let rest = chunk; rest.length > 0; ) {
      if (rest !== chunk && this.#socket.isPaused && this.#socket.readyState === this.#socket.OPEN) {
        this.#connection.unshift(rest)
        break
      }
      const earlier = this.#boundaries.extraFrames
      const completeTo = this.#boundaries.pass(rest, framesAtOnce)
      const { passedBytes } = this.#boundaries
      const part = passedBytes === rest.length ? rest : rest.subarray(0, passedBytes)
      rest = rest.subarray(passedBytes)
      isEmpty = read(part)
      this.#received(part.length, completeTo, chunk.length)
      const extra = this.#boundaries.extraFrames - earlier
      if (extra > 0) this.#extraFrames(extra)
    }
    return isEmpty
  }

  /** @param completeTo result of `FrameBoundaries.pass` for these bytes @param heldBytes bytes of the whole chunk */
  #received(bytes: number, completeTo: number, heldBytes: number): void {
    if (completeTo === bytes) {
      if (this.#keptBytes > 0) this.#set(0, 0)
    } else if (completeTo === -1) {
      const keptBytes = this.#cutter?.isCutting === true ? 0 : bytes + chunkBytes
      this.#set(this.#messageBytes + bytes, this.#keptBytes + keptBytes)
    } else {
      this.#transfers.delete(this)
      this.#set(bytes - completeTo, heldBytes + chunkBytes)
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

/** Reads a chunk as `ws` does. Returns false if `ws` accepts no further chunk until it has drained. */
type ReadChunk = (chunk: Buffer) => boolean

/**
 * Calls `reader` with each chunk of the connection instead of `ws`, and with the function that passes bytes to `ws`.
 * Call it before the first message is read.
 */
export function interceptReads(socket: WebSocket, reader: (chunk: Buffer, read: ReadChunk) => boolean): void {
  // `ws` has no option for this.
  const receiver = Reflect.get(socket, '_receiver') as Writable
  const read = receiver.write.bind(receiver) as ReadChunk
  receiver.write = (chunk: Buffer): boolean => reader(chunk, read)
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
  /** Number of bytes that the last call of `pass` has processed. */
  passedBytes = 0
  /** True if a close frame has begun. Nothing may follow it. */
  hasClosed = false

  /** True if the bytes so far end exactly at the end of a message. */
  get #isComplete(): boolean {
    return !this.#isFragmented && this.#remainingBytes === 0 && this.#header.length === 0
  }

  /**
   * Processes the next bytes of a chunk, up to the end of the last of `framesMax` frames. Returns the offset in the
   * chunk after the last complete message; 0 if these bytes start a message that they do not complete; -1 if they
   * continue a message without completing any.
   */
  pass(chunk: Uint8Array, framesMax = Number.POSITIVE_INFINITY): number {
    const lastFrame = this.frames + framesMax
    let completeTo = this.#isComplete ? 0 : -1
    let at = 0
    while (at < chunk.length && (this.frames < lastFrame || this.#remainingBytes > 0)) {
      at = this.#step(chunk, at)
      if (this.#isComplete) completeTo = at
    }
    this.passedBytes = at
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
    if ((first & 0x0f) === 0x08) this.hasClosed = true
    if (!isControl) this.#isFragmented = (first & 0x80) === 0
    this.frames += 1
    if (isControl || this.#isFragmented) this.extraFrames += 1
    this.#remainingBytes = framePayloadBytes(header, at)
  }
}
