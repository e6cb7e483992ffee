import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'

/** Position of a frame and of its payload in the received bytes. The frames of a server have no mask. */
interface FrameAt {
  readonly opcode: number
  readonly start: number
  /** Offset at which the payload ends and the next frame starts. */
  readonly end: number
}

/** Returns the frame that starts at an offset; null if its header is incomplete. The payload may be incomplete. */
function frameAt(bytes: Buffer, at: number): FrameAt | null {
  if (bytes.length < at + 2) return null
  const short = bytes[at + 1] as number
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0
  const start = at + 2 + lengthBytes
  if (bytes.length < start) return null
  const length =
    lengthBytes === 0 ? short : lengthBytes === 2 ? bytes.readUInt16BE(at + 2) : bytes.readUIntBE(at + 4, 6)
  return { opcode: (bytes[at] as number) & 15, start, end: start + length }
}

/** Encodes a frame that a client sends. The mask is zero, so the payload does not change. */
export function clientFrame(opcode: number, payload: Uint8Array): Buffer {
  const { length } = payload
  const lengthBytes = length < 126 ? 0 : length < 65_536 ? 2 : 8
  const frame = Buffer.alloc(6 + lengthBytes + length)
  frame[0] = 0x80 | opcode
  frame[1] = 0x80 | (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127)
  if (lengthBytes === 2) frame.writeUInt16BE(length, 2)
  if (lengthBytes === 8) frame.writeUIntBE(length, 4, 6)
  frame.set(payload, 6 + lengthBytes)
  return frame
}

export const opcodes = { binary: 2, close: 8, ping: 9, pong: 10 } as const

/** Encodes a number in the variable-length format of lib0. */
export function encodeVarUint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  return Buffer.from([...bytes, rest])
}

/** Decodes a number in the variable-length format of lib0. */
export function readVarUint(bytes: Uint8Array, at: number): { value: number; end: number } {
  let [value, scale, end] = [0, 1, at]
  for (;;) {
    const byte = bytes[end++] as number
    value += (byte & 127) * scale
    if (byte < 128) return { value, end }
    scale *= 128
  }
}

/** Returns the bytes with their length in front of them. */
export const prefixed = (bytes: Uint8Array): Buffer => Buffer.concat([encodeVarUint(bytes.length), bytes])

/**
 * A websocket client for load tests. It does almost no work per message, so thousands of clients do not slow
 * down the measured server.
 */
export class LoadSocket {
  /** Called for each binary message. The bytes are valid only during the call. */
  onMessage: (payload: Buffer) => void = () => {}
  onClose: () => void = () => {}
  /** Close code that the server has sent; null if the server has not closed the connection. */
  closeCode: number | null = null
  /** Total size of all received frames in bytes, including their headers. */
  receivedBytes = 0
  readonly #connection: Socket
  /** Received bytes that do not have a complete frame. */
  #rest: Buffer[] = []
  #restBytes = 0
  /** Size of the frame with which the rest starts; 0 if its header is incomplete. */
  #frameBytes = 0

  private constructor(connection: Socket) {
    this.#connection = connection
    connection.on('error', () => {})
    connection.once('close', () => this.onClose())
  }

  /** Opens a connection. @param url websocket URL, such as `ws://127.0.0.1:1234/path?query` */
  static async open(url: string, onMessage: (payload: Buffer) => void = () => {}): Promise<LoadSocket> {
    const { pathname, search, host } = new URL(url)
    const connection = connectTo(new URL(url)).setNoDelay(true)
    const socket = new LoadSocket(connection)
    socket.onMessage = onMessage
    const key = randomBytes(16).toString('base64')
    const head = [`GET ${pathname}${search} HTTP/1.1`, `Host: ${host}`, 'Upgrade: websocket']
    head.push('Connection: Upgrade', `Sec-WebSocket-Key: ${key}`, 'Sec-WebSocket-Version: 13', '', '')
    connection.write(head.join('\r\n'))
    await socket.#readAnswer()
    connection.on('data', (chunk: Buffer) => socket.#read(chunk))
    return socket
  }

  /** Sends one binary message. */
  send(payload: Uint8Array): void {
    this.#connection.write(clientFrame(opcodes.binary, payload))
  }

  /** Sends frames that are encoded already. */
  sendFrames(frames: Uint8Array): void {
    this.#connection.write(frames)
  }

  /** Number of sent bytes that the operating system has not accepted yet. */
  get unsentBytes(): number {
    return this.#connection.writableLength
  }

  /** Stops reading from the connection until `resume` is called. */
  pause(): void {
    this.#connection.pause()
  }

  resume(): void {
    this.#connection.resume()
  }

  end(): void {
    this.#connection.destroy()
  }

  async #readAnswer(): Promise<void> {
    const ended = new AbortController()
    this.#connection.once('close', () => ended.abort(new Error('the connection was closed')))
    let answer = Buffer.alloc(0)
    while (!answer.includes('\r\n\r\n')) {
      const [chunk] = (await once(this.#connection, 'data', { signal: ended.signal })) as [Buffer]
      answer = Buffer.concat([answer, chunk])
    }
    if (!answer.toString('latin1').startsWith('HTTP/1.1 101')) throw new Error('the upgrade was refused')
    const rest = answer.subarray(answer.indexOf('\r\n\r\n') + 4)
    if (rest.length > 0) queueMicrotask(() => this.#read(rest))
  }

  #read(chunk: Buffer): void {
    this.receivedBytes += chunk.length
    this.#rest.push(chunk)
    this.#restBytes += chunk.length
    // A large frame arrives in many chunks. Joining them for each chunk would take quadratic time.
    if (this.#restBytes < this.#frameBytes) return
    const bytes = this.#rest.length === 1 ? chunk : Buffer.concat(this.#rest)
    let at = 0
    let frame = frameAt(bytes, at)
    for (; frame !== null && frame.end <= bytes.length; frame = frameAt(bytes, at)) {
      const payload = bytes.subarray(frame.start, frame.end)
      if (frame.opcode === opcodes.binary) this.onMessage(payload)
      if (frame.opcode === opcodes.ping) this.#connection.write(clientFrame(opcodes.pong, payload))
      // Answers the close frame of the server, because the server waits for this answer.
      if (frame.opcode === opcodes.close) {
        this.closeCode = payload.length < 2 ? 1005 : payload.readUInt16BE(0)
        this.#connection.end(clientFrame(opcodes.close, payload))
      }
      at = frame.end
    }
    this.#rest = [bytes.subarray(at)]
    this.#restBytes = bytes.length - at
    this.#frameBytes = frame === null ? 0 : frame.end - at
  }
}

function connectTo({ protocol, hostname, port }: URL): Socket {
  const host = hostname.replace(/^\[|\]$/g, '')
  return protocol === 'wss:'
    ? connectSecurely({ host, port: Number(port || 443), servername: host })
    : connect({ host, port: Number(port || 80) })
}
