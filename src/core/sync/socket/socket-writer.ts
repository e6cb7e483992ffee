import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'

/** Collects the bytes for one client until they are written together. */
interface BatchedWriter {
  flush(): void
}

/** Flushes many writers together, when the current callback has ended. */
export class WriteBatch {
  #writers: BatchedWriter[] = []

  /** Adds a writer. A caller must not add the same writer twice to a batch. */
  add(writer: BatchedWriter): void {
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
 * The sending side of one websocket. It writes whole frames directly to the connection. `ws` also writes
 * whole frames, so the bytes of both never mix. All frames of one tick are written in one system call. Until
 * then, they wait in this class, because corking the connection for the whole tick would cost about as much
 * as the rest of a write.
 */
export class SocketWriter {
  readonly #socket: WebSocket
  readonly connection: Duplex
  readonly #batch: WriteBatch
  readonly #onBehind: (frames: readonly Uint8Array[]) => void
  /**
   * The frames that wait; null if none wait. A new array is created for each flush: a reused array would
   * reach the old generation of the heap, and its new frames would then be freed late.
   */
  #frames: Uint8Array[] | null = null
  #bytes = 0
  #isCorked = false

  /**
   * @param onBehind called with the frames of a flush that the operating system has not accepted completely
   */
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

  /** Number of bytes that the operating system has not accepted yet. */
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

  /** Uncorks the connection, which is corked, with the first flush. Call it before the first frame. */
  uncorkLater(): void {
    this.#isCorked = true
    this.#frames = []
    this.#batch.add(this)
  }

  /** Writes the waiting frames. Must be called before any other write to the connection. */
  flush(): void {
    const frames = this.#frames
    if (frames === null) return
    this.#frames = null
    this.#bytes = 0
    // `ws` may already have sent a close frame. Nothing may follow this frame, because browsers would then
    // treat the close as a failure.
    const isOpen = this.#socket.readyState === this.#socket.OPEN
    if (isOpen) {
      if (frames.length === 1) this.connection.write(frames[0])
      else this.#writeAll(frames)
    }
    if (this.#isCorked) {
      this.#isCorked = false
      this.connection.uncork()
    }
    if (isOpen && this.connection.writableLength > 0) this.#onBehind(frames)
  }

  /**
   * Calls `fn` once, when the operating system has accepted all waiting bytes. Never calls `fn` if the
   * connection is dead.
   */
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
