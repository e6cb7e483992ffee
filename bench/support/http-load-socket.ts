import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { encodeVarUint } from '../../src/cli/bench/load-socket.ts'

const endOfHead = '\r\n\r\n'

/**
 * A client of the HTTP transport for load tests, with the interface of `LoadSocket`. It does almost no work per
 * message. One connection carries its stream, another one its requests that send, one after the other.
 */
export class HttpLoadSocket {
  /** Called for each message. Without it, messages are counted but not decoded. */
  onMessage: ((payload: Buffer) => void) | null = null
  /** Number of received messages. */
  messages = 0
  readonly #url: URL
  readonly #head: string
  readonly #query: string
  #stream: Socket
  #posts: Socket | null = null
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #sending: { readonly batch: readonly Buffer[]; readonly number: number } | null = null
  #number = 1
  #position = 0
  #opened: () => void = () => {}
  #failed: (error: Error) => void = () => {}
  #isEnded = false

  private constructor(url: URL) {
    const token = url.searchParams.get('token') ?? ''
    this.#url = url
    this.#query = `${url.pathname.replace('/sync/', '/sync-http/')}?session=${randomBytes(16).toString('hex')}`
    this.#head = `Host: ${url.host}\r\nAuthorization: Bearer ${token}\r\n`
    this.#stream = this.#openStream()
  }

  /** Opens a session. @param url websocket URL of the document, with a token */
  static async open(url: string): Promise<HttpLoadSocket> {
    const socket = new HttpLoadSocket(new URL(url))
    await new Promise<void>((resolve, reject) => {
      socket.#opened = resolve
      socket.#failed = reject
    })
    return socket
  }

  /** Number of bytes that the server has not confirmed. */
  get unsentBytes(): number {
    return this.#waitingBytes
  }

  send(payload: Uint8Array): void {
    const message = Buffer.concat([encodeVarUint(payload.length), payload])
    this.#waiting.push(message)
    this.#waitingBytes += message.length
    if (this.#sending === null) this.#sendNext()
  }

  /** Sends the messages in frames of a websocket client, whose masks are zero. */
  sendFrames(frames: Uint8Array): void {
    const bytes = Buffer.from(frames.buffer, frames.byteOffset, frames.byteLength)
    for (let at = 0; at < bytes.length; ) {
      const short = bytes.readUInt8(at + 1) & 127
      const length =
        short < 126 ? short : short === 126 ? bytes.readUInt16BE(at + 2) : bytes.readUIntBE(at + 4, 6)
      const start = at + 6 + (short < 126 ? 0 : short === 126 ? 2 : 8)
      at = start + length
      this.send(bytes.subarray(start, at))
    }
  }

  end(): void {
    this.#isEnded = true
    this.#stream.destroy()
    this.#posts?.destroy()
  }

  #connect(): Socket {
    const { hostname, port } = this.#url
    return connect({ host: hostname, port: Number(port) })
      .setNoDelay(true)
      .on('error', () => {})
  }

  #fail(problem: string): void {
    if (this.#isEnded) return
    this.#failed(new Error(problem))
    // After the start, the scenario notices a client that receives nothing.
    this.end()
  }

  /** Requests the events after the last one. The connection ends with the response. */
  #openStream(): Socket {
    const stream = this.#connect()
    let rest: Buffer = Buffer.alloc(0)
    let isComplete = false
    stream.on('data', (chunk: Buffer) => {
      rest = this.#readStream(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]), () => {
        isComplete = true
      })
    })
    stream.on('close', () => {
      if (!isComplete) this.#fail('the stream was closed')
      else if (!this.#isEnded) this.#stream = this.#openStream()
    })
    stream.write(`GET ${this.#query}&position=${this.#position} HTTP/1.1\r\n${this.#head}\r\n`)
    return stream
  }

  /** Reads the head and the chunks of a response. Returns the incomplete rest. */
  #readStream(bytes: Buffer, onComplete: () => void): Buffer {
    let at = 0
    for (;;) {
      // A head begins with the version, a chunk with its size.
      const isHead = bytes[at] === 72
      const end = bytes.indexOf(isHead ? endOfHead : '\r\n', at)
      if (end === -1) return bytes.subarray(at)
      if (isHead) {
        if (!bytes.toString('latin1', at, at + 12).endsWith('200'))
          this.#fail(bytes.toString('latin1', at, end))
        at = end + endOfHead.length
        continue
      }
      const size = Number.parseInt(bytes.toString('latin1', at, end), 16)
      const start = end + 2
      if (bytes.length < start + size + 2) return bytes.subarray(at)
      if (size === 0) onComplete()
      else this.#readEvents(bytes.toString('latin1', start, start + size))
      at = start + size + 2
    }
  }

  /** Reads a chunk. The server writes whole events. */
  #readEvents(text: string): void {
    for (const event of text.split('\n\n')) {
      const message = /^id: (\d+)\ndata: (.*)$/.exec(event)
      if (message !== null) {
        this.#position = Number(message[1])
        this.messages += 1
        this.onMessage?.(Buffer.from(message[2] as string, 'base64'))
      } else if (event.startsWith('event: open')) this.#opened()
      else if (event.startsWith('event: close')) this.#fail(event)
    }
  }

  #sendNext(): void {
    if (this.#waiting.length === 0 || this.#isEnded) return
    this.#sending = { batch: this.#waiting, number: this.#number }
    this.#number += this.#waiting.length
    this.#waiting = []
    this.#post()
  }

  #post(): void {
    if (this.#sending === null) return
    const { batch, number } = this.#sending
    const body = Buffer.concat(batch)
    const line = `POST ${this.#query}&number=${number}&position=${this.#position} HTTP/1.1\r\n`
    const type = `Content-Type: application/octet-stream\r\nContent-Length: ${body.length}\r\n\r\n`
    this.#posts ??= this.#openPosts()
    this.#posts.write(Buffer.concat([Buffer.from(line + this.#head + type), body]))
  }

  #openPosts(): Socket {
    const socket = this.#connect()
    let answer = ''
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString('latin1')
      const end = answer.indexOf(endOfHead)
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(answer)?.[1] ?? Number.NaN)
      if (end === -1 || answer.length < end + endOfHead.length + length) return
      if (!answer.startsWith('HTTP/1.1 200')) this.#fail(answer)
      answer = ''
      const confirmed = this.#sending?.batch ?? []
      for (const { length } of confirmed) this.#waitingBytes -= length
      this.#sending = null
      this.#sendNext()
    })
    socket.on('close', () => {
      // The server ends idle connections. A request that met that end is repeated with the same number.
      this.#posts = null
      if (!this.#isEnded) this.#post()
    })
    return socket
  }
}
