import type { Duplex } from 'node:stream'
import type { SlowTransfers, Transfer } from './slow-transfers.ts'

/**
 * Measures how many bytes of a connection the operating system has accepted since the measurement began.
 * Accepted parts of incomplete writes are included.
 */
export class TakenBytes {
  readonly #connection: Duplex
  readonly #begin: number
  #last: number

  constructor(connection: Duplex) {
    this.#connection = connection
    this.#begin = takenBytesOf(connection) ?? 0
    this.#last = this.#begin
  }

  /** Number of bytes that were accepted since the measurement began. */
  get bytes(): number {
    this.#last = takenBytesOf(this.#connection) ?? this.#last
    return this.#last - this.#begin
  }
}

/**
 * Measures the bytes that wait in this process because the client of a connection does not read them. Runs
 * only while there are such bytes.
 */
export class UnreadBytes implements Transfer {
  readonly isPaused = false
  readonly #connection: Duplex
  readonly #transfers: SlowTransfers
  /** Called with the current number of unread bytes in the memory of this process. */
  readonly #changed: (unreadBytes: number) => void
  /** Called when the client reads too slowly or not at all. */
  readonly #tooSlow: () => void
  /**
   * The measurement; null while there are no unread bytes, because the operating system has accepted
   * everything.
   */
  #taken: TakenBytes | null = null

  constructor(
    connection: Duplex,
    transfers: SlowTransfers,
    changed: (unreadBytes: number) => void,
    tooSlow: () => void,
  ) {
    this.#connection = connection
    this.#transfers = transfers
    this.#changed = changed
    this.#tooSlow = tooSlow
    connection.once('close', () => this.release())
  }

  get transferredBytes(): number {
    return this.#taken?.bytes ?? 0
  }

  tooSlow(): void {
    this.#tooSlow()
  }

  /**
   * Starts or updates the measurement. Call it after each write that the operating system has not accepted
   * completely.
   */
  wrote(): void {
    const { writableLength, destroyed } = this.#connection
    if (destroyed || writableLength === 0) return
    const isNew = this.#taken === null
    this.#taken ??= new TakenBytes(this.#connection)
    this.#changed(writableLength)
    if (!isNew) return
    this.#transfers.add(this)
    this.#whenWritten()
  }

  /** Ends the measurement. */
  release(): void {
    if (this.#taken === null) return
    this.#taken = null
    this.#transfers.delete(this)
    this.#changed(0)
  }

  /**
   * Updates the measurement each time all current writes are complete, until no bytes are unread. An empty
   * write completes after all writes before it.
   */
  #whenWritten(): void {
    // After `end` of the connection no write is possible. The connection then closes by itself, and the close
    // ends the measurement.
    if (this.#connection.writableEnded) return
    this.#connection.write('', () => {
      const { writableLength } = this.#connection
      if (this.#taken === null) return
      if (writableLength === 0) return this.release()
      this.#changed(writableLength)
      this.#whenWritten()
    })
  }
}

/**
 * Returns the number of bytes of a connection that libuv has passed to the operating system: all written
 * bytes except those in the queue of libuv. Returns null if the connection has no handle of the operating
 * system.
 */
function takenBytesOf(connection: Duplex): number | null {
  const handle: unknown = Reflect.get(connection, '_handle')
  if (typeof handle !== 'object' || handle === null) return null
  if (!('writeQueueSize' in handle) || !('bytesWritten' in handle)) return null
  const { bytesWritten, writeQueueSize } = handle
  return typeof bytesWritten === 'number' && typeof writeQueueSize === 'number'
    ? bytesWritten - writeQueueSize
    : null
}
