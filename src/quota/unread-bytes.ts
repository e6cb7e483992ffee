import type { Duplex } from 'node:stream'
import type { SlowTransfers, Transfer } from './slow-transfers.ts'

/** Measures the bytes of writes to a connection that its client has read, also of an incomplete write. */
export class TakenBytes {
  readonly #connection: Duplex
  readonly #begin: number
  #last: number

  constructor(connection: Duplex) {
    this.#connection = connection
    this.#begin = takenBytesOf(connection) ?? 0
    this.#last = this.#begin
  }

  /** Bytes since the measurement began. */
  get bytes(): number {
    this.#last = takenBytesOf(this.#connection) ?? this.#last
    return this.#last - this.#begin
  }
}

export interface UnreadBytesOptions {
  readonly transfers: SlowTransfers
  /** Called with the bytes that are in memory. */
  readonly changed: (unreadBytes: number) => void
  /** The client reads too slowly, or not at all. */
  readonly tooSlow: () => void
}

/** The bytes of a connection that its client has not read, while there are any. */
export class UnreadBytes implements Transfer {
  readonly isPaused = false
  readonly #connection: Duplex
  readonly #options: UnreadBytesOptions
  /** Null while the operating system has taken everything. */
  #taken: TakenBytes | null = null

  constructor(connection: Duplex, options: UnreadBytesOptions) {
    this.#connection = connection
    this.#options = options
    connection.once('close', () => this.release())
  }

  get transferredBytes(): number {
    return this.#taken?.bytes ?? 0
  }

  tooSlow(): void {
    this.#options.tooSlow()
  }

  /** Call this after a write that the operating system has not taken completely. */
  wrote(): void {
    const { writableLength, destroyed } = this.#connection
    if (destroyed || writableLength === 0) return
    const isNew = this.#taken === null
    this.#taken ??= new TakenBytes(this.#connection)
    this.#options.changed(writableLength)
    if (!isNew) return
    this.#options.transfers.add(this)
    this.#whenWritten()
  }

  /** Ends the count. */
  release(): void {
    if (this.#taken === null) return
    this.#taken = null
    this.#options.transfers.delete(this)
    this.#options.changed(0)
  }

  /** A write without bytes completes after all writes before it. */
  #whenWritten(): void {
    // The end of a connection is followed by its close.
    if (this.#connection.writableEnded) return
    this.#connection.write('', () => {
      const { writableLength } = this.#connection
      if (this.#taken === null) return
      if (writableLength === 0) return this.release()
      this.#options.changed(writableLength)
      this.#whenWritten()
    })
  }
}

/**
 * Returns the bytes that libuv was given, without those that it has queued. Null without a connection of the
 * operating system.
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
