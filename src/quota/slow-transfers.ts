/** Interval of the checks, in ms. */
const tickMs = 500
/** Each of these adds a second to the time that a transfer may take: 128 kbit/s. */
const bytesPerSecondMin = 16_384

/** Bytes in transfer from or to a client, which determines their pace. */
export interface Transfer {
  /** Bytes transferred so far. */
  readonly transferredBytes: number
  /** True while the server pauses the transfer: that time does not count. */
  readonly isPaused: boolean
  /** Ends the client, which takes too long. */
  tooSlow(): void
}

/** Times of one transfer, in milliseconds of ticks. */
interface Progress {
  takenMs: number
  bytes: number
  /** Time since the last byte. */
  idleMs: number
}

/**
 * Ends transfers that make no progress for a fixed time, or that take longer than this time plus a second for
 * each 16 KiB. The first rule is for buffers of the operating system, which take megabytes that no client
 * reads. One timer serves all transfers, and only while there are any.
 */
export class SlowTransfers {
  readonly #timeoutMs: number
  readonly #progress = new Map<Transfer, Progress>()
  #timer: NodeJS.Timeout | null = null

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  /** Adds a new transfer; adding it again changes nothing. */
  add(transfer: Transfer): void {
    if (this.#progress.has(transfer)) return
    this.#progress.set(transfer, { takenMs: 0, bytes: 0, idleMs: 0 })
    this.#timer ??= setInterval(() => this.#check(), tickMs).unref()
  }

  /** Removes a transfer that is complete, or whose client has disconnected. */
  delete(transfer: Transfer): void {
    this.#progress.delete(transfer)
  }

  /**
   * Counts ticks, not time: if this process is busy and a tick is late, no client is charged more than one
   * tick.
   */
  #check(): void {
    for (const [transfer, progress] of this.#progress) {
      if (transfer.isPaused) continue
      const { transferredBytes } = transfer
      progress.takenMs += tickMs
      progress.idleMs = transferredBytes > progress.bytes ? 0 : progress.idleMs + tickMs
      progress.bytes = transferredBytes
      const allowedMs = this.#timeoutMs + (transferredBytes / bytesPerSecondMin) * 1000
      if (progress.idleMs > this.#timeoutMs || progress.takenMs > allowedMs) transfer.tooSlow()
    }
    if (this.#progress.size > 0 || this.#timer === null) return
    clearInterval(this.#timer)
    this.#timer = null
  }
}
