/**
 * A client gets its own awareness renewal back if it has received nothing for this time: y-websocket closes after
 * 30 s.
 */
export const echoAfterMs = 5_000

/**
 * Maximum silence while an echo is pending: Y-Sweet closes if it receives nothing for 3 s after its request, and
 * the echo may take longer.
 */
export const pendingEchoSilenceMs = 1_000

/**
 * Interval of pings, and maximum silence towards the client. It must stay below 30 s: y-websocket closes a connection
 * that receives nothing for this time.
 */
export const heartbeatMs = 15_000

/**
 * A dead client ends within this time after its last message (SYNC-16). A client that stops right after its answer to a
 * ping ends after two heartbeats; the remaining 5 s are for timers.
 */
export const deadAfterMs = 2 * heartbeatMs + 5_000

/** The times of the last message from and to a client, in ms of a monotonic clock. */
export class Heartbeat {
  #receivedAt: number
  #sentAt: number
  #pingedAt: number
  /** The server sends a message after this time without one. */
  readonly #quietMs = heartbeatMs * (1 - Math.random() / 3)

  constructor(time: number) {
    this.#receivedAt = time
    this.#sentAt = time
    // A random start spreads the pings of clients that connect together, for example after a restart.
    this.#pingedAt = time - Math.random() * heartbeatMs
  }

  received(time: number): void {
    this.#receivedAt = time
  }

  sent(time: number): void {
    this.#sentAt = time
  }

  /** Returns the time since the last message to the client. */
  silentMs(time: number): number {
    return time - this.#sentAt
  }

  isSilenceTooLong(time: number): boolean {
    return this.silentMs(time) >= this.#quietMs
  }

  /**
   * Returns the next action. `dead`: a ping is due, and the client has sent nothing since the previous one.
   * @param isReading whether messages of the client are read; if not, the client is not dead
   */
  check(time: number, isReading: boolean): 'wait' | 'ping' | 'dead' {
    if (time - this.#pingedAt < heartbeatMs) return 'wait'
    if (this.#receivedAt < this.#pingedAt && isReading) return 'dead'
    this.#pingedAt = time
    return 'ping'
  }
}
