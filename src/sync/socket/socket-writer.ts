import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'

/** Sends what has been written to many outlets, all of it at the end of the current turn's callbacks. */
export class WriteBatch {
  #writers: SocketWriter[] = []

  /** The caller sees to it that it adds itself once. */
  add(writer: SocketWriter): void {
    this.#writers.push(writer)
    if (this.#writers.length === 1) process.nextTick(this.#run)
  }

  readonly #run = (): void => {
    const writers = this.#writers
    this.#writers = []
    for (const writer of writers) writer.flush()
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
  readonly #batch: WriteBatch
  readonly #onBehind: (frames: readonly Uint8Array[]) => void
  /** Null and not empty in between, so that nothing old refers to what is new: it would outlive its use. */
  #frames: Uint8Array[] | null = null
  #bytes = 0

  /** @param onBehind called with frames of which the operating system has not taken everything */
  constructor(
    socket: WebSocket,
    connection: Duplex,
    batch: WriteBatch,
    onBehind: (frames: readonly Uint8Array[]) => void,
  ) {
    this.#onBehind = onBehind
    this.#socket = socket
    this.connection = connection
    this.#batch = batch
  }

  /** What the operating system has not taken yet. */
  get waitingBytes(): number {
    return this.#bytes + this.connection.writableLength
  }

  write(frames: Uint8Array): void {
    if (this.#frames === null) {
      this.#frames = [frames]
      this.#batch.add(this)
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
    if (this.connection.writableLength > 0) this.#onBehind(frames)
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
