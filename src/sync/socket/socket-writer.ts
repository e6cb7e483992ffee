import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'

/** Sends what has been written to many outlets, all of it at the end of the current turn's callbacks. */
export class WriteBatch {
  #waiting: SocketWriter[] = []

  /** The caller sees to it that it adds itself once. */
  add(outlet: SocketWriter): void {
    this.#waiting.push(outlet)
    if (this.#waiting.length === 1) process.nextTick(this.#run)
  }

  readonly #run = (): void => {
    const waiting = this.#waiting
    this.#waiting = []
    for (const outlet of waiting) outlet.flush()
  }
}

/**
 * The sending side of one websocket. Whole frames go straight to the connection (`ws` writes whole frames too, so
 * they never mix); what is written in one turn of the event loop becomes one system call. It is kept here meanwhile:
 * corking the connection for it costs about as much as the rest of writing.
 */
export class SocketWriter {
  readonly #socket: WebSocket
  readonly connection: Duplex
  readonly #flushes: WriteBatch
  readonly #behind: (frames: readonly Uint8Array[]) => void
  /** Null and not empty in between, so that nothing old refers to what is new: it would outlive its use. */
  #frames: Uint8Array[] | null = null
  #bytes = 0

  /** @param behind called with frames of which the operating system has not taken everything */
  constructor(
    socket: WebSocket,
    connection: Duplex,
    flushes: WriteBatch,
    behind: (frames: readonly Uint8Array[]) => void,
  ) {
    this.#behind = behind
    this.#socket = socket
    this.connection = connection
    this.#flushes = flushes
  }

  /** What the operating system has not taken yet. */
  get waitingBytes(): number {
    return this.#bytes + this.connection.writableLength
  }

  write(frames: Uint8Array): void {
    if (this.#frames === null) {
      this.#frames = [frames]
      this.#flushes.add(this)
    } else this.#frames.push(frames)
    this.#bytes += frames.length
  }

  /** Hands over what waits: before anything is written to the connection in another way. */
  flush(): void {
    const frames = this.#frames
    if (frames === null) return
    this.#frames = null
    this.#bytes = 0
    // `ws` closes by itself, too, and nothing may follow a close frame: browsers take the close for a failure then.
    if (this.#socket.readyState !== this.#socket.OPEN) return
    if (frames.length === 1) this.connection.write(frames[0])
    else this.#writeAll(frames)
    if (this.connection.writableLength > 0) this.#behind(frames)
  }

  /** Calls `fn` once when all that is waiting has been handed to the operating system; never on a dead connection. */
  whenDrained(fn: () => void): void {
    this.flush()
    this.connection.write('', (error) => {
      if (error == null) fn()
    })
  }

  #writeAll(frames: readonly Uint8Array[]): void {
    this.connection.cork()
    for (const one of frames) this.connection.write(one)
    this.connection.uncork()
  }
}
