import type { ClientProtocol } from '../../src/loadtest/client-protocol.ts'
import type { LoadSocket } from '../../src/loadtest/load-socket.ts'
import { atRate } from '../../src/loadtest/typist.ts'
import { encodeVarUint, prefixed, readVarUint } from '../../src/loadtest/websocket-frames.ts'

/** A client with more unsent bytes than this does not move. */
const unsentBytesMax = 65_536

/** A client that moves its cursor, and counts the received states of others. */
export class Mover {
  /** Number of messages with such states. */
  messages = 0
  /** Number of received states of others. */
  shown = 0
  sent = 0
  readonly #id: number
  readonly #socket: LoadSocket
  readonly #dialect: ClientProtocol
  readonly #document: string
  #awaited: { readonly marker: Buffer; readonly resolve: () => void } | null = null
  #clock = 1

  /** @param id the client id, below 2^32 */
  constructor(id: number, socket: LoadSocket, dialect: ClientProtocol, document: string) {
    this.#id = id
    this.#socket = socket
    this.#dialect = dialect
    this.#document = document
    socket.onMessage = (payload) => this.#take(payload)
  }

  /** Moves the cursor, unless the connection is full. */
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

  /** Resolves when a state with this text arrives. */
  async shows(text: string): Promise<void> {
    const marker = Buffer.from(text)
    await new Promise<void>((resolve) => {
      this.#awaited = { marker, resolve }
    })
  }

  end(): void {
    this.#socket.end()
  }

  #take(payload: Buffer): void {
    const message = this.#dialect.read(payload)
    if (message?.kind !== 'awareness') return
    this.messages += 1
    this.shown += othersIn(message.bytes, this.#id)
    if (this.#awaited === null || !payload.includes(this.#awaited.marker)) return
    this.#awaited.resolve()
    this.#awaited = null
  }
}

/**
 * Moves the cursors in rotation, evenly over time, until it is stopped.
 * @param perSecond moves of each cursor
 */
export function moveAll(movers: readonly Mover[], perSecond: number): () => void {
  let moved = 0
  return atRate(movers.length * perSecond, (due) => {
    for (let index = 0; index < due; index++) movers[moved++ % movers.length]?.move()
  })
}

/** Returns the number of states of others in an awareness update. */
function othersIn(bytes: Buffer, own: number): number {
  const { value: count, end: start } = readVarUint(bytes, 0)
  let [others, at] = [0, start]
  for (let index = 0; index < count; index++) {
    const client = readVarUint(bytes, at)
    const clock = readVarUint(bytes, client.end)
    const state = readVarUint(bytes, clock.end)
    at = state.end + state.value
    if (client.value !== own) others += 1
  }
  return others
}
