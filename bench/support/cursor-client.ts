import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** Bytes not yet taken by the operating system above which a client sends nothing more. */
const unsentBytesMax = 65_536
const messageAwareness = 1
const binaryFrame = 0x82
const pingFrame = 0x89
const pongFrame = 0x8a

interface Frame {
  readonly opcode: number
  readonly payload: Buffer
  /** Where the next one starts. */
  readonly end: number
}

/**
 * Shows a cursor in a room and counts what it is shown of others. Next to nothing is done for each message, so that
 * hundreds of these are no limit for the server that they measure.
 */
export class CursorClient {
  /** Awareness messages, and states in them, so far. */
  readonly received = { messages: 0, states: 0 }
  sent = 0
  /** Called when a message has `marker` in it, once. */
  onMarker = (): void => {}
  marker: Buffer | null = null
  readonly #id: number
  readonly #socket: Socket
  #clock = 1
  #rest: Buffer = Buffer.alloc(0)

  private constructor(socket: Socket, id: number) {
    this.#socket = socket
    this.#id = id
  }

  /** @param url such as `ws://127.0.0.1:1234/path?query` @param id below 2^32, its client id */
  static async open(url: string, id: number): Promise<CursorClient> {
    const { hostname, port, pathname, search, host } = new URL(url)
    const socket = connect(Number(port), hostname).setNoDelay(true)
    const client = new CursorClient(socket, id)
    const head = [`GET ${pathname}${search} HTTP/1.1`, `Host: ${host}`, 'Upgrade: websocket']
    const key = randomBytes(16).toString('base64')
    head.push('Connection: Upgrade', `Sec-WebSocket-Key: ${key}`, 'Sec-WebSocket-Version: 13', '', '')
    socket.write(head.join('\r\n'))
    await client.#readAnswer()
    socket.on('data', (chunk: Buffer) => client.#read(chunk))
    return client
  }

  /** Moves the cursor, unless the connection is full. */
  move(): void {
    if (this.#socket.writableLength > unsentBytesMax) return
    const at = {
      type: { client: 1_234_567_890, clock: 4_321 },
      tname: null,
      item: { client: 7, clock: this.#clock },
    }
    const state = {
      user: { name: `Client ${this.#id}`, color: '#30bced', colorLight: '#30bced33' },
      cursor: { anchor: at, head: at },
    }
    const text = Buffer.from(JSON.stringify(state))
    const entry = Buffer.concat([
      varUint(1),
      varUint(this.#id),
      varUint(this.#clock++),
      varUint(text.length),
      text,
    ])
    this.#write(binaryFrame, Buffer.concat([varUint(messageAwareness), varUint(entry.length), entry]))
    this.sent += 1
  }

  end(): void {
    this.#socket.destroy()
  }

  async #readAnswer(): Promise<void> {
    let answer = Buffer.alloc(0)
    while (!answer.includes('\r\n\r\n')) {
      const [chunk] = (await once(this.#socket, 'data')) as [Buffer]
      answer = Buffer.concat([answer, chunk])
    }
    if (!answer.toString('latin1').startsWith('HTTP/1.1 101')) throw new Error('the upgrade was refused')
    this.#read(answer.subarray(answer.indexOf('\r\n\r\n') + 4))
  }

  #read(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    let at = 0
    for (let frame = frameAt(bytes, at); frame !== null; frame = frameAt(bytes, at)) {
      this.#take(frame)
      at = frame.end
    }
    this.#rest = bytes.subarray(at)
  }

  #take({ opcode, payload }: Frame): void {
    if (opcode === pingFrame) return this.#write(pongFrame, payload)
    if (opcode !== binaryFrame || payload[0] !== messageAwareness) return
    this.received.messages += 1
    this.received.states += countIn(payload)
    if (this.marker === null || !payload.includes(this.marker)) return
    this.marker = null
    this.onMarker()
  }

  /** Masked with zeros: that leaves the bytes as they are. */
  #write(opcode: number, payload: Buffer): void {
    const { length } = payload
    const head = length < 126 ? [opcode, 128 | length] : [opcode, 128 | 126, length >> 8, length & 255]
    this.#socket.write(Buffer.concat([Buffer.from([...head, 0, 0, 0, 0]), payload]))
  }
}

/** Null when it is not all there. */
function frameAt(bytes: Buffer, at: number): Frame | null {
  if (bytes.length < at + 2) return null
  const short = bytes[at + 1] as number
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0
  const start = at + 2 + lengthBytes
  if (bytes.length < start) return null
  const length =
    lengthBytes === 0 ? short : bytes.readUIntBE(start - Math.min(6, lengthBytes), Math.min(6, lengthBytes))
  if (bytes.length < start + length) return null
  return { opcode: bytes[at] as number, payload: bytes.subarray(start, start + length), end: start + length }
}

/** How many states an awareness message has. */
function countIn(payload: Buffer): number {
  let at = 1
  while ((payload[at] as number) > 127) at += 1
  let [count, scale] = [0, 1]
  for (;;) {
    const byte = payload[++at] as number
    count += (byte & 127) * scale
    scale *= 128
    if (byte < 128) return count
  }
}

function varUint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  return Buffer.from([...bytes, rest])
}
