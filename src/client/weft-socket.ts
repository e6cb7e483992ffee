/**
 * A class with the interface of `WebSocket` that also works behind proxies that reject or cut websockets. It
 * is for the option `WebSocketPolyfill` of y-websocket and of HocuspocusProvider.
 */
import { HttpConnection } from './http-connection.ts'
import { type OriginMemory, originMemory } from './origin-memory.ts'

export interface WeftSocketOptions {
  /** Class of websockets. Default: the one of the platform. With null, the socket uses HTTP only. */
  readonly WebSocket?: typeof WebSocket | null
  /** Default: the function of the platform. */
  readonly fetch?: typeof fetch
  /** Time in ms in which a websocket or a stream must open. Default: 6,000. */
  readonly stallMs?: number
  /** Time in ms for which HTTP is used before a new connection tries a websocket again. Default: 300,000. */
  readonly retryMs?: number
}

/** Number of consecutive failures of websockets after which a connection uses HTTP. */
const failuresMax = 2
const types = ['open', 'message', 'error', 'close'] as const

type Listener = ((event: Event) => void) | null

/**
 * Tries a websocket first. After two failures, or if the handshake or the first answer does not arrive in
 * time, uses HTTP, and remembers that for the origin.
 */
export class WeftSocket extends EventTarget {
  static readonly CONNECTING = 0
  static readonly OPEN = 1
  static readonly CLOSING = 2
  static readonly CLOSED = 3
  readonly CONNECTING = 0
  readonly OPEN = 1
  readonly CLOSING = 2
  readonly CLOSED = 3
  readonly url: string
  readonly protocol = ''
  readonly extensions = ''
  binaryType: BinaryType = 'blob'
  readyState: 0 | 1 | 2 | 3 = 0
  onopen: Listener = null
  onmessage: Listener = null
  onerror: Listener = null
  onclose: Listener = null
  readonly #memory: OriginMemory
  readonly #options: Required<WeftSocketOptions>
  #connection: HttpConnection | WebSocket
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Starts to wait for the first message. Does nothing if it has arrived. */
  #expectAnswer = (): void => {}

  constructor(url: string | URL, protocols: string | string[] = [], options: WeftSocketOptions = {}) {
    super()
    this.url = String(url)
    this.#options = {
      WebSocket: globalThis.WebSocket,
      fetch: globalThis.fetch,
      stallMs: 6_000,
      retryMs: 300_000,
      ...options,
    }
    for (const type of types) this.addEventListener(type, (event) => this[`on${type}`]?.(event))
    this.#memory = originMemory(new URL(this.url).host)
    this.#memory.tryAgain()
    const { WebSocket } = this.#options
    this.#connection =
      this.#memory.way.httpUntilMs > 0 || !WebSocket
        ? this.#overHttp()
        : this.#overWebsocket(new WebSocket(url, protocols))
  }

  /** Number of bytes that have not been sent. Over HTTP: that the server has not confirmed. */
  get bufferedAmount(): number {
    return this.#connection.bufferedAmount
  }

  /** @throws DOMException `InvalidStateError` before the socket is open */
  send(data: ArrayBuffer | ArrayBufferView<ArrayBuffer>): void {
    if (this.readyState === 0) throw new DOMException('not open', 'InvalidStateError')
    if (this.readyState > 1) return
    this.#expectAnswer()
    this.#connection.send(
      ArrayBuffer.isView(data)
        ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
        : new Uint8Array(data),
    )
  }

  close(code?: number, reason?: string): void {
    if (this.readyState > 1) return
    this.readyState = 2
    void this.#connection.close(code, reason)
  }

  #overHttp(): HttpConnection {
    const owner = {
      opened: () => {
        this.#memory.way.httpUntilMs ||= Date.now() + this.#options.retryMs
        this.#opened()
      },
      received: (data: ArrayBuffer) => this.#receive(data),
      closed: (code: number, reason: string) => this.#closed(code, reason),
    }
    return new HttpConnection(this.url, owner, this.#memory, this.#options)
  }

  #overWebsocket(socket: WebSocket): WebSocket {
    const memory = this.#memory
    const { stallMs } = this.#options
    let state: 'unanswered' | 'answered' | 'failed' = 'unanswered'
    const fail = (failures: number): void => {
      state = 'failed'
      memory.failures = failures
      clearTimeout(this.#timer)
      socket.close()
      if (this.readyState === 0 && failures >= failuresMax) this.#connection = this.#overHttp()
      else this.#closed()
    }
    const expectWithin = (ms: number): void => {
      clearTimeout(this.#timer)
      this.#timer = setTimeout(fail, ms, failuresMax)
    }
    socket.binaryType = 'arraybuffer'
    expectWithin(stallMs)
    // Some proxies let the handshake pass, but no messages.
    this.#expectAnswer = () => {
      this.#expectAnswer = () => {}
      if (state === 'unanswered') expectWithin(2 * stallMs)
    }
    // Without a listener, sockets of Node throw errors.
    socket.addEventListener('error', () => {})
    socket.addEventListener('open', () => {
      if (state === 'failed') return
      clearTimeout(this.#timer)
      this.#opened()
    })
    socket.addEventListener('message', ({ data }) => {
      if (state === 'failed') return
      if (state === 'unanswered') {
        clearTimeout(this.#timer)
        state = 'answered'
        memory.failures = 0
      }
      this.#receive(data as ArrayBuffer)
    })
    socket.addEventListener('close', ({ code, reason }) => {
      if (state === 'failed') return
      if (state === 'answered' || code !== 1006 || this.readyState === 2) this.#closed(code, reason)
      else fail(memory.failures + 1)
    })
    return socket
  }

  #opened(): void {
    if (this.readyState > 0) return
    this.readyState = 1
    this.#emit('open')
  }

  #receive(data: ArrayBuffer): void {
    if (this.readyState === 1)
      this.#emit('message', { data: this.binaryType === 'blob' ? new Blob([data]) : data })
  }

  #closed(code = 1006, reason = ''): void {
    clearTimeout(this.#timer)
    if (this.readyState > 2) return
    this.readyState = 3
    const wasClean = code !== 1006
    if (!wasClean) this.#emit('error')
    this.#emit('close', { code, reason, wasClean })
  }

  #emit(type: (typeof types)[number], properties?: object): void {
    this.dispatchEvent(Object.assign(new Event(type), properties))
  }
}

/** Returns a class for the option `WebSocketPolyfill` of providers, with options. */
export const weftSocket = (options: WeftSocketOptions = {}): typeof WeftSocket =>
  class extends WeftSocket {
    constructor(url: string | URL, protocols?: string | string[]) {
      super(url, protocols, options)
    }
  }

export default WeftSocket
