/**
 * Milliseconds without a message to the client after which the client also receives its own awareness states.
 * Normally these are not sent back. Without any message, y-websocket closes the connection after 30 s.
 */
export const echoAfterMs = 5_000

/**
 * Maximum milliseconds without a message to the client while an echo is pending. A client of Y-Sweet closes
 * the connection if it receives nothing for 3 s after its request, and the echo may take longer.
 */
export const pendingEchoSilenceMs = 1_000

/**
 * Maximum milliseconds without a message to the client (SYNC-15). The value must stay below 30 s, because
 * y-websocket closes a connection on which it receives nothing for 30 s.
 */
export const silenceMsMax = 15_000

/**
 * Maximum milliseconds between the last message of a dead client and the end of its connection (SYNC-16). Sessions
 * over HTTP measure it, so the waits of a poll and a stream (`http/`), and the time after which the client gives up
 * (`client/`), must be shorter. Websockets keep it by `pingEveryMs`.
 */
export const deadAfterMs = 35_000

/**
 * Milliseconds between two pings of a websocket. A client that stops immediately after its reply to a ping is found
 * after two intervals. The remaining 5 s allow for inaccurate timers.
 */
export const pingEveryMs = (deadAfterMs - 5_000) / 2

/**
 * Decides when the server sends a ping or an empty message to a client, and when the client counts as dead.
 * All times are milliseconds of a monotonic clock.
 */
export class Heartbeat {
  #receivedAt: number
  #sentAt: number
  #pingedAt: number
  /**
   * Milliseconds without a message to the client after which the server sends an empty message. The value is
   * random, so that these messages are spread.
   */
  readonly #quietMs = silenceMsMax * (1 - Math.random() / 3)

  constructor(time: number) {
    this.#receivedAt = time
    this.#sentAt = time
    // A random start spreads the pings of clients that connect simultaneously, for example after a restart.
    this.#pingedAt = time - Math.random() * pingEveryMs
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
   * Returns the action that is due now. `dead`: a ping is due, and the client has sent nothing since the
   * previous ping.
   * @param isReading true if the server reads messages of the client; if it does not, the client never counts
   * as dead
   */
  check(time: number, isReading: boolean): 'wait' | 'ping' | 'dead' {
    if (time - this.#pingedAt < pingEveryMs) return 'wait'
    if (this.#receivedAt < this.#pingedAt && isReading) return 'dead'
    this.#pingedAt = time
    return 'ping'
  }
}
