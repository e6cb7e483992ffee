import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientProtocol } from './client-protocol.ts'
import { encodeVarUint, type LoadSocket, prefixed, readVarUint } from './load-socket.ts'
import { atRate } from './typist.ts'

/** Number of unsent bytes. A client with more unsent bytes does not move its cursor. */
const unsentBytesMax = 65_536
/** Time in ms in which the last positions must arrive. */
const showMs = 5_000

/** A client that moves its cursor, and counts the awareness states of other clients that it receives. */
export class Mover {
  /** Number of received awareness messages. */
  messages = 0
  /** Number of awareness states of other clients in these messages. */
  shown = 0
  sent = 0
  readonly #id: number
  readonly #socket: LoadSocket
  readonly #dialect: ClientProtocol
  readonly #document: string
  #expected: { readonly marker: Buffer; readonly resolve: () => void } | null = null
  #clock = 1
  /** Clock of the last received state of each other client. */
  readonly #clocks = new Map<number, number>()

  /** @param id client id in the awareness protocol, below 2^32 */
  constructor(id: number, socket: LoadSocket, dialect: ClientProtocol, document: string) {
    this.#id = id
    this.#socket = socket
    this.#dialect = dialect
    this.#document = document
    socket.onMessage = (payload) => this.#take(payload)
  }

  /** Moves the cursor. Does nothing if the connection has too many unsent bytes. */
  move(): void {
    if (this.#socket.unsentBytes > unsentBytesMax) return
    const at = {
      type: { client: 1_234_567_890, clock: 4_321 },
      tname: null,
      item: { client: 7, clock: this.#clock },
    }
    const user = { name: `Client ${this.#id}`, color: '#30bced', colorLight: '#30bced33' }
    const state = Buffer.from(JSON.stringify({ user, cursor: { anchor: at, head: at } }))
    const entry = [encodeVarUint(1), encodeVarUint(this.#id), encodeVarUint(this.#clock++), prefixed(state)]
    this.#socket.send(this.#dialect.awareness(this.#document, Buffer.concat(entry)))
    this.sent += 1
  }

  /** Resolves when an awareness state that contains this text arrives. */
  async shows(text: string): Promise<void> {
    const marker = Buffer.from(text)
    await new Promise<void>((resolve) => {
      this.#expected = { marker, resolve }
    })
  }

  end(): void {
    this.#socket.end()
  }

  #take(payload: Buffer): void {
    const message = this.#dialect.read(payload)
    if (message?.kind !== 'awareness') return
    this.messages += 1
    this.shown += this.#readStates(message.bytes)
    if (this.#expected === null || !payload.includes(this.#expected.marker)) return
    this.#expected.resolve()
    this.#expected = null
  }

  /**
   * Waits until this client shows the last position of all other cursors.
   * @throws Error if it does not
   */
  async expectShown(movers: readonly Mover[]): Promise<void> {
    const deadline = performance.now() + showMs
    const missing = () => movers.filter((other) => other !== this && !this.#hasLast(other))
    while (missing().length > 0) {
      if (performance.now() > deadline)
        throw new Error(`a client does not show the last position of ${missing().length} cursors`)
      await sleep(5)
    }
  }

  #hasLast(other: Mover): boolean {
    return (this.#clocks.get(other.#id) ?? 0) >= other.#clock - 1
  }

  /** Returns the number of states of other clients in an awareness update. */
  #readStates(bytes: Buffer): number {
    const { value: count, end: start } = readVarUint(bytes, 0)
    let [others, at] = [0, start]
    for (let index = 0; index < count; index++) {
      const client = readVarUint(bytes, at)
      const clock = readVarUint(bytes, client.end)
      const state = readVarUint(bytes, clock.end)
      at = state.end + state.value
      if (client.value === this.#id) continue
      others += 1
      this.#clocks.set(client.value, clock.value)
    }
    return others
  }
}

/**
 * Moves the cursors one after the other, evenly spread over time. The returned function stops the movement.
 * @param perSecond number of moves per second of each cursor
 */
export function moveAll(movers: readonly Mover[], perSecond: number): () => void {
  let moved = 0
  return atRate(movers.length * perSecond, (due) => {
    for (let index = 0; index < due; index++) movers[moved++ % movers.length]?.move()
  })
}
