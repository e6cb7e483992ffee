/** An own awareness renewal is echoed when the client has heard nothing for this long: y-websocket hangs up after 30 s. */
export const echoAfterMs = 5_000

/** Y-Sweet hangs up when it has heard nothing for 3 s after asking what is saved; that may take longer. */
export const pendingEchoSilenceMs = 1_000

/** Pings go out this often, and silence towards the client ends before that. */
export const heartbeatMs = 15_000

/** Times of what one client has said and been told, as one clock tells them that never goes back, in ms. */
export class Heartbeat {
  #receivedAt: number
  #sentAt: number
  #pingedAt: number
  /** After so long in which nothing was said something is. */
  readonly #quietMs = heartbeatMs * (1 - Math.random() / 3)

  constructor(time: number) {
    this.#receivedAt = time
    this.#sentAt = time
    // Those who came together, after a restart, are not to be asked together for ever.
    this.#pingedAt = time - Math.random() * heartbeatMs
  }

  received(time: number): void {
    this.#receivedAt = time
  }

  sent(time: number): void {
    this.#sentAt = time
  }

  /** How long nothing has been said to it. */
  silentMs(time: number): number {
    return time - this.#sentAt
  }

  isSilenceTooLong(time: number): boolean {
    return this.silentMs(time) >= this.#quietMs
  }

  /** What is to be done now. @param isReading whether what the client says is read */
  check(time: number, isReading: boolean): 'wait' | 'ping' | 'dead' {
    if (time - this.#pingedAt < heartbeatMs) return 'wait'
    if (this.#receivedAt < this.#pingedAt && isReading) return 'dead'
    this.#pingedAt = time
    return 'ping'
  }
}
