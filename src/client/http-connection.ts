import type { OriginMemory, TurnTaker } from './origin-memory.ts'
import { type ReceivedEvent, readServerEvents } from './server-events.ts'

interface HttpOptions {
  readonly fetch: typeof fetch
  /** Time in ms in which the first bytes of a stream must arrive. */
  readonly stallMs: number
}

type Frame = Uint8Array<ArrayBuffer>
type Query = Readonly<Record<string, string | number>>

/** Time in ms without any bytes after which a stream is dead. The server sends a comment every 15 s. */
const silenceMs = 40_000
/** Time in ms without any response after which the session is lost. The server keeps it for 35 s. */
const lostMs = 30_000
/** Maximum number of consecutive failures of requests that the session survives. The waits take 25 s. */
const failuresMax = 9
/** Number of attempts to send the end of a session, one in each second. */
const closesMax = 5
/** Number of consecutive streams that end within `stallMs`, after which connections poll. */
const cutsMax = 3
/** Maximum size of one request with several messages. Common limits of proxies are larger. */
const batchBytesMax = 200_000
/** Number of received bytes after which a stream is acknowledged. Also the limit of browsers for `keepalive`. */
const smallBytes = 60_000

const randomHex = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => (byte + 256).toString(16).slice(1)).join('')

/** Returns a message with its length as varuint before it. */
function framed(message: Uint8Array): Frame {
  const length: number[] = []
  let rest = message.length
  for (; rest > 127; rest >>= 7) length.push((rest & 127) | 128)
  length.push(rest)
  const frame = new Uint8Array(length.length + message.length)
  frame.set(length)
  frame.set(message, length.length)
  return frame
}

const sleep = (ms = 0): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

interface ConnectionOwner {
  opened(): void
  received(data: ArrayBuffer): void
  closed(code: number, reason: string): void
}

/** A session over HTTP: GET requests receive messages, POST requests send them. */
export class HttpConnection implements TurnTaker {
  /** As of `WebSocket`: connecting, open, closing, closed. */
  readyState: 0 | 1 | 2 | 3 = 0
  readonly #url: URL
  readonly #headers: Record<string, string> = {}
  readonly #owner: ConnectionOwner
  readonly #memory: OriginMemory
  readonly #options: HttpOptions
  /** Number of the last received event. */
  #position = 0
  /** Messages that the server has not confirmed. The first one has the number `#number`. */
  #frames: Frame[] = []
  #number = 1
  #isSending = false
  /** Number of received bytes that are not acknowledged. */
  #received = 0
  #answeredAtMs = Date.now()
  #held: AbortController | undefined
  readonly #leave = (): void => void this.close(1001)

  /** @throws TypeError if the URL is invalid */
  constructor(url: string, owner: ConnectionOwner, memory: OriginMemory, options: HttpOptions) {
    this.#url = this.#addressOf(new URL(url))
    this.#owner = owner
    this.#memory = memory
    this.#options = options
    memory.add(this)
    // Only browsers have this function.
    globalThis.addEventListener?.('pagehide', this.#leave)
    void this.#receive()
  }

  /** Number of bytes that the server has not confirmed. */
  get bufferedAmount(): number {
    return this.#frames.reduce((sum, { length }) => sum + length, 0)
  }

  send(message: Uint8Array): void {
    this.#frames.push(framed(message))
    void this.#sendAll()
  }

  /** Sends everything that is not confirmed, and ends the session. */
  async close(code = 1000, reason = ''): Promise<void> {
    if (this.readyState > 1) return
    this.readyState = 2
    this.yieldTurn()
    for (let tries = closesMax; tries-- > 0 && !(await this.#post(this.#frames, { close: code })); )
      await sleep(1_000)
    this.#end(code, reason)
  }

  yieldTurn(): void {
    this.#held?.abort()
  }

  /** Returns the URL of the session for the URL of a websocket. Moves the token to the headers. */
  #addressOf(url: URL): URL {
    const { searchParams } = url
    url.protocol = url.protocol.replace('ws', 'http')
    if (url.pathname.includes('/sync/')) url.pathname = url.pathname.replace('/sync/', '/sync-http/')
    else {
      url.pathname = url.pathname.replace(/\/hocuspocus\/*$/, '/sync-http')
      searchParams.set('dialect', 'hocuspocus')
    }
    const token = searchParams.get('token')
    searchParams.delete('token')
    // Access logs contain the id of the session, but no headers.
    this.#headers.authorization = token ? `Bearer ${token}` : `Session ${randomHex()}`
    searchParams.set('session', randomHex())
    return url
  }

  #end(code = 1006, reason = ''): void {
    if (this.readyState > 2) return
    this.readyState = 3
    this.yieldTurn()
    this.#memory.remove(this)
    globalThis.removeEventListener?.('pagehide', this.#leave)
    this.#owner.closed(code, reason)
  }

  #request(query: Query, init: RequestInit): Promise<Response> {
    const url = new URL(this.#url)
    for (const [name, value] of Object.entries({ position: this.#position, ...query }))
      url.searchParams.set(name, String(value))
    const { fetch } = this.#options
    return fetch(url, { headers: this.#headers, cache: 'no-store', ...init })
  }

  /** Sends one GET request after the other until the session ends. */
  async #receive(): Promise<void> {
    for (let failures = 0; this.readyState < 2; ) {
      await this.#memory.takeTurn()
      const isGood = this.readyState > 1 || (await this.#get())
      this.#memory.endTurn()
      failures = await this.#next(failures, isGood)
    }
  }

  /** Waits before a failed request is repeated, and returns the new number of failures. Ends a lost session. */
  async #next(failures: number, isGood: boolean): Promise<number> {
    if (this.readyState > 1) return 0
    if (Date.now() - this.#answeredAtMs > lostMs) this.#end()
    if (isGood) return 0
    if (this.readyState === 0 || failures > failuresMax) this.#end()
    await sleep(200 << Math.min(failures, 4))
    return failures + 1
  }

  /** Receives events with one request. Returns false if another request must wait. */
  async #get(): Promise<boolean> {
    const { way, isCrowded } = this.#memory
    const { stallMs } = this.#options
    const isShort = isCrowded || way.slowUntilMs > Date.now()
    const isPoll = way.polls || isShort
    const wait = this.readyState && (isShort ? 1 : way.waitSeconds)
    const held = new AbortController()
    this.#held = held
    const startMs = Date.now()
    const before = this.#position
    let timer: ReturnType<typeof setTimeout> | undefined
    let isOpen = false
    const expectWithin = (ms: number): void => {
      clearTimeout(timer)
      timer = setTimeout(() => held.abort(), ms)
    }
    // A poll is answered after its time even if a proxy holds the response back.
    expectWithin(isPoll ? (wait + 10) * 1000 : stallMs)
    const { signal } = held
    const query = { resume: this.readyState, ...(isPoll && { wait }) }
    const read = this.#request(query, { signal }).then(({ body }) => {
      this.#received = 0
      return readServerEvents(
        body as ReadableStream<Uint8Array>,
        (bytes) => {
          this.#received += bytes
          expectWithin(silenceMs)
          if (!isPoll) void this.#sendAll()
        },
        (event) => {
          isOpen = true
          this.#take(event)
        },
      )
    })
    try {
      // If a response ends while it is aborted, `fetch` of Node 20 may neither end nor fail.
      await Promise.race([
        read,
        new Promise((resolve) => {
          // oxlint-disable-next-line unicorn/prefer-add-event-listener -- this form is shorter
          signal.onabort = resolve
        }),
      ])
    } catch {
      // The rest of this function handles an incomplete response.
    }
    clearTimeout(timer)
    const { aborted } = signal
    const durationMs = Date.now() - startMs
    if (isPoll) {
      if (!isOpen) way.waitSeconds = way.waitSeconds >> 1 || 1
    } else if (!isOpen) way.polls ||= durationMs >= stallMs
    else if (!aborted) {
      way.cuts = durationMs < stallMs ? way.cuts + 1 : 0
      way.polls ||= way.cuts >= cutsMax
    }
    return aborted || (isOpen && (this.#position > before || durationMs > 900))
  }

  #take({ event, id, data = '' }: ReceivedEvent): void {
    this.#answeredAtMs = Date.now()
    if (event === 'open') {
      if (this.readyState > 0) return
      this.readyState = 1
      this.#owner.opened()
    } else if (event === 'close') {
      const { code, reason } = JSON.parse(data) as { code: number; reason: string }
      this.#end(code, reason)
    } else if (Number(id) > this.#position) {
      this.#position = Number(id)
      this.#owner.received(Uint8Array.from(atob(data), (character) => character.charCodeAt(0)).buffer)
    }
  }

  /** Sends requests, one after the other, until the server has confirmed everything. */
  async #sendAll(): Promise<void> {
    if (this.#isSending) return
    this.#isSending = true
    for (let failures = 0; ; ) {
      // Messages of one tick are one request.
      await sleep()
      if (this.readyState !== 1 || (this.#frames.length === 0 && this.#received < smallBytes)) break
      failures = await this.#next(failures, await this.#sendBatch())
    }
    this.#isSending = false
  }

  /** Sends messages. Returns false if the request must be repeated. Ends a session that the server lacks. */
  async #sendBatch(): Promise<boolean> {
    let bytes = 0
    const batch = this.#frames.filter(({ length }) => {
      bytes += length
      return bytes <= batchBytesMax || bytes === length
    })
    this.#received = 0
    const { stallMs } = this.#options
    // The held requests of several pages may occupy the connections of the browser. Later, streams are tried again.
    const slow = setTimeout(() => {
      if (bytes < smallBytes) this.#memory.way.slowUntilMs = Date.now() + 20 * stallMs
      this.yieldTurn()
    }, stallMs / 2)
    const answer = await this.#post(batch)
    clearTimeout(slow)
    if (!answer) return false
    // Not a number if the answer is an error.
    const confirmed = (answer.received as number) + 1 - this.#number
    this.#answeredAtMs = Date.now()
    if (confirmed > 0 || (confirmed === 0 && !batch.length)) {
      this.#frames.splice(0, confirmed)
      this.#number += confirmed
    } else this.#end()
    return true
  }

  /** Returns the answer of the server; null if the request must be repeated, because a proxy has answered it. */
  #post(batch: readonly Frame[], query: Query = {}): Promise<{ received?: number } | null> {
    const body = new Blob([...batch], { type: 'application/octet-stream' })
    return this.#request(
      { number: this.#number, ...query },
      {
        method: 'POST',
        body,
        keepalive: !!query.close && body.size < smallBytes,
        signal: AbortSignal.timeout(2 * this.#options.stallMs + (body.size >> 2)),
      },
    )
      .then((response) => (response.status > 428 ? null : response.json()))
      .catch(() => null)
  }
}
