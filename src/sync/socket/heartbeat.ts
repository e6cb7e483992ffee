/**
 * Silence in ms after which a client receives its own awareness renewals. Without any message, y-websocket
 * closes the connection after 30 s.
 */
export const echoAfterMs = 5_000

/**
 * Maximum milliseconds without a message to the client while an echo is pending. Y-Sweet closes the
 * connection if it receives nothing for 3 s after its request, and the echo may take longer.
 */
export const pendingEchoSilenceMs = 1_000

/**
 * Interval of pings, and maximum time without a message to the client, in ms. It must stay below 30 s,
 * because y-websocket closes a connection on which it receives nothing for 30 s.
 */
export const heartbeatMs = 15_000

/**
 * Maximum milliseconds between the last message of a dead client and the end of its connection (SYNC-16). A
 * client that stops immediately after its reply to a ping is detected after two heartbeats; the remaining 5 s
 * are for inaccurate timers.
 */
export const deadAfterMs = 2 * heartbeatMs + 5_000

/** The times of the last messages from and to a client, in ms of a monotonic clock. */
export class Heartbeat {
  #receivedAt: number
  #sentAt: number
  #pingedAt: number
  /** Milliseconds without a message to the client after which the server sends one. */
  readonly #quietMs = heartbeatMs * (1 - Math.random() / 3)

  constructor(time: number) {
    this.#receivedAt = time
    this.#sentAt = time
    // A random start spreads the pings of clients that connect simultaneously, for example after a restart.
    this.#pingedAt = time - Math.random() * heartbeatMs
  }

  received(time: number): void {
    this.#receivedAt = time
  }

  sent(time: number): void {
    this.#sentAt = time
  }

  /** Returns the milliseconds since the last message to the client. */
  silentMs(time: number): number {
    return time - this.#sentAt
  }

  isSilenceTooLong(time: number): boolean {
    return this.silentMs(time) >= this.#quietMs
  }

  /**
   * Returns the next action. `dead`: a ping is due, and the client has sent nothing since the previous ping.
   * @param isReading whether the server reads messages of the client; if it does not, the client does not
   * count as dead
   */
  check(time: number, isReading: boolean): 'wait' | 'ping' | 'dead' {
    if (time - this.#pingedAt < heartbeatMs) return 'wait'
    if (this.#receivedAt < this.#pingedAt && isReading) return 'dead'
    this.#pingedAt = time
    return 'ping'
  }
}
