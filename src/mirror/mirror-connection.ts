import { WebSocket } from 'ws'
import { errorMessage } from '../errors.ts'
import { pongMessage, type SourceMessage } from './source-protocols.ts'

/** The other side closed a connection or sent an invalid message. The message contains the reason. */
export class MirrorConnectionError extends Error {
  override readonly name = 'MirrorConnectionError'
  /** Close code of the other side; null if it did not close the connection. */
  readonly code: number | null

  constructor(message: string, code: number | null) {
    super(message)
    this.code = code
  }
}

export interface MirrorConnectionOptions {
  /** Name of the other side in messages. */
  readonly peer: string
  readonly url: URL
  readonly hello: Uint8Array | null
  /** Text that must not appear in messages, although the other side may repeat it. */
  readonly secret: string | null
  /** Returns the message that requests an update with a state vector. */
  readonly ask: (vector: Uint8Array) => Uint8Array
  readonly read: (message: Uint8Array) => SourceMessage
  /** Receives each message in order. If the message answers a question, it is called before the question resolves. */
  readonly onMessage: (received: SourceMessage) => void
}

/** Maximum size of a received message in bytes. A message may contain a whole document. */
const messageBytesMax = 256 * 1024 * 1024
const reasonLengthMax = 300
/** Timeout of the connect, and of each wait for more bytes of an answer. */
const patienceMs = 30_000
/** Timeout of an answer, even if other messages arrive. */
const answerMs = 600_000
/** Rate of sending in bytes per ms that the timeout assumes: 64 KB per second. */
const sentPerMs = 64

interface Question {
  readonly answered: (update: Uint8Array) => void
  readonly failed: (error: Error) => void
}

/** A connection to one document of a server, for requests. It does not store content. */
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

  /** Resolves when the connection is closed. Never rejects. */
  get ended(): Promise<MirrorConnectionError> {
    return this.#ended
  }

  /**
   * Resolves when the other side has accepted the client or has sent its state vector. Rejects with
   * `MirrorConnectionError`.
   */
  get greeted(): Promise<void> {
    return this.#greeted
  }

  /** Bytes that the other side has not received yet. */
  get unsentBytes(): number {
    return this.#socket.bufferedAmount
  }

  send(message: Uint8Array, sent?: () => void): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(message, () => sent?.())
  }

  /**
   * Requests the update that a client with this state vector lacks. Only one request at a time is possible. Rejects
   * with `MirrorConnectionError`.
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
   * Ends the connection if no bytes of the answer arrive. A large answer over a slow connection, and a paused socket,
   * do not count as missing.
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

  /** Stops reading until `resume`. */
  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** Terminates the connection with a local reason. */
  end(reason: string): void {
    this.#reason ??= reason
    this.#socket.terminate()
  }

  /** Closes the connection after all pending messages are sent. */
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

/** Returns a reason of the other side for messages: on one line, shortened, without the secret. */
function printable(reason: string, secret: string | null): string {
  const forms = secret === null || secret === '' ? [] : [secret, encodeURIComponent(secret)]
  const plain = forms.reduce((text, form) => text.replaceAll(form, '…'), reason).replace(/\p{Cc}+/gu, ' ')
  return plain.length > reasonLengthMax ? `${plain.slice(0, reasonLengthMax)}…` : plain
}
