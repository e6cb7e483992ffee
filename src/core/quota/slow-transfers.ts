import type { IncomingMessage } from 'node:http'
import { runUntraced } from '../base/current-trace.ts'

/**
 * Default of `timeoutMs`: milliseconds within which a client must finish a message, and must read the bytes
 * sent to it. Each 16 KiB adds one second.
 */
export const transferTimeoutMsDefault = 60_000
/** Interval of the checks in milliseconds. */
const tickMs = 500
/** Number of bytes that add one second to the permitted time of a transfer (128 kbit/s). */
export const bytesPerSecondMin = 16_384

/** A transfer of bytes from or to a client. Its speed depends on the client. */
export interface Transfer {
  /** Number of bytes that have been transferred so far. */
  readonly transferredBytes: number
  /** True while the server pauses the transfer. Paused time does not count. */
  readonly isPaused: boolean
  /** Called when the transfer takes too long. Must end the client. */
  tooSlow(): void
}

/**
 * Requests whose bodies are transfers that `SlowTransfers` checks. The time limit of the HTTP server, which is too
 * short for a large message over a slow connection, does not apply to them.
 */
export const timedRequests = new WeakSet<IncomingMessage>()

/** The measured times of one transfer, in milliseconds. Each check adds `tickMs`. */
interface Progress {
  takenMs: number
  bytes: number
  /** Milliseconds since the last byte was transferred. */
  idleMs: number
}

/**
 * Ends the clients of transfers that make no progress for `timeoutMs`, or that take longer than `timeoutMs`
 * plus 1 s for each 16 KiB. The first rule is needed because buffers of the operating system accept
 * megabytes: these bytes count as transferred although the client has not read them. One timer checks all
 * transfers; it runs only while there are transfers.
 */
export class SlowTransfers {
  readonly #timeoutMs: number
  readonly #progress = new Map<Transfer, Progress>()
  #timer: NodeJS.Timeout | null = null

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  /** Starts to check a transfer. Has no effect if the transfer has already been added. */
  add(transfer: Transfer): void {
    if (this.#progress.has(transfer)) return
    this.#progress.set(transfer, { takenMs: 0, bytes: 0, idleMs: 0 })
    this.#timer ??= runUntraced(() => setInterval(() => this.#check(), tickMs)).unref()
  }

  /** Stops checking a transfer that is complete, or whose client has disconnected. */
  delete(transfer: Transfer): void {
    this.#progress.delete(transfer)
  }

  /**
   * Checks all transfers. The method counts its own calls instead of measuring time. If the process is busy
   * and a call is late, the delay therefore counts as only one tick for each client.
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
