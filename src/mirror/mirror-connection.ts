import { WebSocket } from 'ws'
import { errorMessage } from '../errors.ts'
import { pongMessage, type SourceMessage } from './source-protocols.ts'

/**
 * Error of a connection. The other side closed the connection, sent an invalid message, or did not answer in
 * time. The message contains the reason.
 */
export class MirrorConnectionError extends Error {
  override readonly name = 'MirrorConnectionError'
  /** Close code that the other side sent; null if the other side did not close the connection. */
  readonly code: number | null

  constructor(message: string, code: number | null) {
    super(message)
    this.code = code
  }
}

export interface MirrorConnectionOptions {
  /** Name of the other server for error messages. */
  readonly peer: string
  readonly url: URL
  readonly hello: Uint8Array | null
  /**
   * Secret that must not appear in error messages. It must be removed because the other server may repeat it
   * in its texts.
   */
  readonly secret: string | null
  /** Encodes a request for the updates that are missing in a client with this state vector. */
  readonly ask: (vector: Uint8Array) => Uint8Array
  readonly read: (message: Uint8Array) => SourceMessage
  /**
   * Called for each message in the order of arrival. If the message is the answer to a request, this function
   * is called before the promise of the request resolves.
   */
  readonly onMessage: (received: SourceMessage) => void
}

/**
 * Maximum size of a received message in bytes. The limit is high, because a message may contain a whole
 * document.
 */
const messageBytesMax = 256 * 1024 * 1024
const reasonLengthMax = 300
/** Maximum time in ms for connecting, and for each wait for more bytes of an answer. */
const patienceMs = 30_000
/** Maximum time in ms for an answer, even if bytes arrive meanwhile. */
const answerMs = 600_000
/**
 * Upload rate in bytes per ms (64 KB per second). Unsent bytes extend the timeout by the time that their
 * upload takes at this rate.
 */
const sentPerMs = 64

interface Question {
  readonly answered: (update: Uint8Array) => void
  readonly failed: (error: Error) => void
}

/** A connection to one document of a server. It requests updates, but does not store content. */
export class MirrorConnection {
  readonly #options: MirrorConnectionOptions
  readonly #socket: WebSocket
  readonly #ended: Promise<MirrorConnectionError>
  readonly #greeted: Promise<void>
  #greet: () => void = () => undefined
  #bytesRead: () => number = () => 0
  #question: Question | null = null
  #reason: string | null = null
  #code: number | null = null

  constructor(options: MirrorConnectionOptions) {
    this.#options = options
    this.#socket = new WebSocket(options.url, {
      perMessageDeflate: false,
      handshakeTimeout: patienceMs,
      maxPayload: messageBytesMax,
    })
    this.#socket.on('upgrade', ({ socket }) => {
      this.#bytesRead = () => socket.bytesRead
    })
    this.#socket.on('open', () => options.hello !== null && this.#socket.send(options.hello))
    this.#socket.on('message', (data: Buffer) => this.#take(data))
    this.#socket.on('error', (error) => {
      this.#reason ??= errorMessage(error) === '' ? 'the connection cannot be made' : errorMessage(error)
    })
    this.#ended = new Promise((resolve) => {
      this.#socket.on('close', (code, reason) => resolve(this.#close(code, reason.toString())))
    })
    const bell = setTimeout(() => this.end('says nothing'), patienceMs)
    this.#greeted = new Promise((resolve, reject) => {
      this.#greet = resolve
      void this.#ended.then(reject)
    })
    this.#greeted.catch(() => undefined).finally(() => clearTimeout(bell))
  }

  /** Promise that resolves with the reason when the connection is closed. The promise never rejects. */
  get ended(): Promise<MirrorConnectionError> {
    return this.#ended
  }

  /**
   * Promise that resolves when the other side has accepted the client or has sent its state vector. Rejects
   * with `MirrorConnectionError`.
   */
  get greeted(): Promise<void> {
    return this.#greeted
  }

  /** Number of bytes that are queued but have not been passed to the operating system. */
  get unsentBytes(): number {
    return this.#socket.bufferedAmount
  }

  send(message: Uint8Array, sent?: () => void): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(message, () => sent?.())
  }

  /**
   * Requests the updates that are missing in a client with this state vector. Only one request can be pending
   * at a time. Rejects with `MirrorConnectionError`.
   */
  async ask(vector: Uint8Array): Promise<Uint8Array> {
    if (this.#question !== null) throw new Error('a request is still pending')
    const answer = new Promise<Uint8Array>((answered, failed) => {
      this.#question = { answered, failed }
    })
    this.send(this.#options.ask(vector))
    const bell = this.#beImpatient()
    if (this.#reason !== null || this.#socket.readyState > WebSocket.OPEN) this.#fail()
    return answer.finally(() => clearInterval(bell))
  }

  /**
   * Starts a timer that ends the connection if no more bytes of the answer arrive in an interval. If bytes
   * arrive slowly, or if the socket is paused, the connection stays open until `answerMs` have passed.
   */
  #beImpatient(): NodeJS.Timeout {
    let waitedMs = 0
    let read = this.#bytesRead()
    const intervalMs = patienceMs + this.unsentBytes / sentPerMs
    return setInterval(() => {
      waitedMs += intervalMs
      const before = read
      read = this.#bytesRead()
      if ((read === before && !this.#socket.isPaused) || waitedMs >= answerMs)
        this.end(`no answer within ${Math.round(waitedMs / 1000)} s`)
    }, intervalMs)
  }

  /** Stops reading from the socket until `resume` is called. */
  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** Terminates the connection immediately. `reason` becomes the message of the error. */
  end(reason: string): void {
    this.#reason ??= reason
    this.#socket.terminate()
  }

  /** Closes the connection after all pending messages have been sent. */
  close(): void {
    this.#reason ??= 'closed'
    this.#socket.close()
  }

  #take(data: Buffer): void {
    if (this.#reason !== null) return
    try {
      const received = this.#options.read(data)
      if (received.kind === 'ping') return this.send(pongMessage)
      if (received.kind === 'refused') return this.end(`refuses: ${received.reason}`)
      this.#options.onMessage(received)
      if (received.kind === 'vector' || received.kind === 'admitted') this.#greet()
      if (received.kind === 'offer') this.#answer(received.update)
    } catch (error) {
      this.end(`sent a message that cannot be read: ${errorMessage(error)}`)
    }
  }

  #answer(update: Uint8Array): void {
    const question = this.#question
    this.#question = null
    question?.answered(update)
  }

  #close(code: number, reason: string): MirrorConnectionError {
    if (this.#reason === null) this.#code = code
    this.#reason ??= `has closed the connection (${code}${reason === '' ? '' : `, ${reason}`})`
    this.#fail()
    return this.#error()
  }

  #fail(): void {
    const question = this.#question
    this.#question = null
    question?.failed(this.#error())
  }

  #error(): MirrorConnectionError {
    const { peer, secret } = this.#options
    return new MirrorConnectionError(`${peer}: ${printable(this.#reason ?? '', secret)}`, this.#code)
  }
}

/**
 * Converts a reason that the other side has sent to a form for error messages: one line, shortened, and
 * without the secret.
 */
function printable(reason: string, secret: string | null): string {
  const forms = secret === null || secret === '' ? [] : [secret, encodeURIComponent(secret)]
  const plain = forms.reduce((text, form) => text.replaceAll(form, '…'), reason).replace(/\p{Cc}+/gu, ' ')
  return plain.length > reasonLengthMax ? `${plain.slice(0, reasonLengthMax)}…` : plain
}
