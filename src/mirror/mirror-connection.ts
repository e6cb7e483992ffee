import { WebSocket } from 'ws'
import { errorMessage } from '../errors.ts'
import { pongMessage, type SourceMessage } from './source-protocols.ts'

/** The other side ended a connection, or said something that it should not. The message says what. */
export class MirrorConnectionError extends Error {
  override readonly name = 'MirrorConnectionError'
  /** That the other side has closed with; null when it did not. */
  readonly code: number | null

  constructor(message: string, code: number | null) {
    super(message)
    this.code = code
  }
}

export interface MirrorConnectionOptions {
  /** What the other side is called in messages. */
  readonly peer: string
  readonly url: URL
  readonly hello: Uint8Array | null
  /** What is told to nobody, though the other side may repeat it. */
  readonly secret: string | null
  /** The message that asks with a state vector. */
  readonly ask: (vector: Uint8Array) => Uint8Array
  readonly read: (message: Uint8Array) => SourceMessage
  /** Told of all that is said, in its order, before a question is answered with it. */
  readonly onMessage: (received: SourceMessage) => void
}

/** Largest message that is taken, in bytes: a whole document may be one. */
const messageBytesMax = 256 * 1024 * 1024
const reasonLengthMax = 300
/** For the connection to be made; while an answer is awaited, for more bytes of it. */
const patienceMs = 30_000
/** For an answer, whatever else is said meanwhile. */
const answerMs = 600_000
/** What is still to be sent before a question may take its time: 64 KB a second. */
const sentPerMs = 64

interface Question {
  readonly answered: (update: Uint8Array) => void
  readonly failed: (error: Error) => void
}

/** A connection to one document of a server, of which one asks. It keeps nothing of what is said. */
export class MirrorConnection {
  readonly #parts: MirrorConnectionOptions
  readonly #socket: WebSocket
  readonly #ended: Promise<MirrorConnectionError>
  readonly #greeted: Promise<void>
  #greet: () => void = () => undefined
  #bytesRead: () => number = () => 0
  #question: Question | null = null
  #reason: string | null = null
  #code: number | null = null

  constructor(parts: MirrorConnectionOptions) {
    this.#parts = parts
    this.#socket = new WebSocket(parts.url, {
      perMessageDeflate: false,
      handshakeTimeout: patienceMs,
      maxPayload: messageBytesMax,
    })
    this.#socket.on('upgrade', ({ socket }) => {
      this.#bytesRead = () => socket.bytesRead
    })
    this.#socket.on('open', () => parts.hello !== null && this.#socket.send(parts.hello))
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

  /** Resolves, never rejects, when the connection is gone. */
  get ended(): Promise<MirrorConnectionError> {
    return this.#ended
  }

  /** Resolves once the other side has let us in, or said what it has; rejects with `MirrorConnectionError`. */
  get greeted(): Promise<void> {
    return this.#greeted
  }

  /** Bytes that the other side has not taken yet. */
  get unsentBytes(): number {
    return this.#socket.bufferedAmount
  }

  send(message: Uint8Array, sent?: () => void): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(message, () => sent?.())
  }

  /** Asks for what somebody with this state vector lacks: one question at a time. Rejects with `MirrorConnectionError`. */
  async ask(vector: Uint8Array): Promise<Uint8Array> {
    if (this.#question !== null) throw new Error('a question is still open')
    const answer = new Promise<Uint8Array>((answered, failed) => {
      this.#question = { answered, failed }
    })
    this.send(this.#parts.ask(vector))
    const bell = this.#beImpatient()
    if (this.#reason !== null || this.#socket.readyState > WebSocket.OPEN) this.#fail()
    return answer.finally(() => clearInterval(bell))
  }

  /** A large answer over a slow line is none that does not come, nor is one that we do not read. */
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

  /** Nothing is read until `resume`. */
  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** Ends the connection at once, for a reason of ours. */
  end(reason: string): void {
    this.#reason ??= reason
    this.#socket.terminate()
  }

  /** Says goodbye, and sends what is still to be sent. */
  close(): void {
    this.#reason ??= 'closed'
    this.#socket.close()
  }

  #take(data: Buffer): void {
    if (this.#reason !== null) return
    try {
      const received = this.#parts.read(data)
      if (received.kind === 'ping') return this.send(pongMessage)
      if (received.kind === 'refused') return this.end(`refuses: ${received.reason}`)
      this.#parts.onMessage(received)
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
    const { peer, secret } = this.#parts
    return new MirrorConnectionError(`${peer}: ${printable(this.#reason ?? '', secret)}`, this.#code)
  }
}

/** As a reason of the other side may be printed: on one line, not long, without the secret. */
function printable(reason: string, secret: string | null): string {
  const forms = secret === null || secret === '' ? [] : [secret, encodeURIComponent(secret)]
  const plain = forms.reduce((text, form) => text.replaceAll(form, '…'), reason).replace(/\p{Cc}+/gu, ' ')
  return plain.length > reasonLengthMax ? `${plain.slice(0, reasonLengthMax)}…` : plain
}
