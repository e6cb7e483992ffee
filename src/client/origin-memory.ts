/** A connection that holds requests to an origin. */
export interface TurnTaker {
  /** Ends the request that waits for events, so that another connection can have one. */
  yieldTurn(): void
}

/**
 * Maximum number of requests of this page to one origin that wait for events. With HTTP/1.1, a browser has
 * six connections to an origin, and the rest must remain for requests that send.
 */
const heldMax = 4

/** State of an origin about which nothing is known. */
const untried = {
  /** Until this time (`Date.now()`), connections use HTTP immediately. */
  httpUntilMs: 0,
  /** True if streams do not arrive, or are cut soon, because a proxy buffers responses. */
  polls: false,
  /** Number of streams that were cut consecutively, each soon after its start. */
  cuts: 0,
  /** Seconds for which a long poll waits. */
  waitSeconds: 25,
  /** Until this time (`Date.now()`), connections poll for a short time, because a request that sends was slow. */
  slowUntilMs: 0,
}

/** Knowledge of this page about the way to one origin, shared by all its connections. */
export class OriginMemory {
  /** Number of websockets that failed consecutively. */
  failures = 0
  way = { ...untried }
  readonly #connections = new Set<TurnTaker>()
  readonly #waiting: (() => void)[] = []
  #held = 0

  /** True if there are more connections than requests that may wait. Connections then poll in turns. */
  get isCrowded(): boolean {
    return this.#connections.size > heldMax
  }

  add(connection: TurnTaker): void {
    this.#connections.add(connection)
    if (this.#connections.size === heldMax + 1) for (const each of this.#connections) each.yieldTurn()
  }

  remove(connection: TurnTaker): void {
    this.#connections.delete(connection)
  }

  /** Resolves when a further request may wait for events. The caller must call `endTurn` afterwards. */
  async takeTurn(): Promise<void> {
    if (this.#held < heldMax) this.#held += 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  endTurn(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#held -= 1
  }

  /** Lets the next connection try a websocket and a stream again, if it is time. */
  tryAgain(): void {
    if (this.way.httpUntilMs < Date.now()) this.way = { ...untried }
  }
}

const memories = new Map<string, OriginMemory>()

/** Returns the memory of an origin. It lives as long as the page. */
export function originMemory(origin: string): OriginMemory {
  const memory = memories.get(origin) ?? new OriginMemory()
  memories.set(origin, memory)
  return memory
}
