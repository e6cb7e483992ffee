import { errorMessage } from '../../errors.ts'
import { type Close, close } from '../../model/close.ts'
import { unauthenticatedMessageBytesMax } from '../../quota/memory-bounds.ts'
import { MalformedMessageError } from '../../update/malformed.ts'
import {
  emptyNameMessage,
  encodeDenied,
  isCloseMessage,
  pong,
  readAuthRequest,
  readRoutedMessage,
} from '../protocols/hocuspocus.ts'
import type { ClientSocket, SocketListener } from '../socket/client-socket.ts'
import type { ReadBackpressure } from '../socket/read-backpressure.ts'
import { type ChannelTransport, DocumentChannel } from './document-channel.ts'
import { UnroutedMessages } from './unrouted-messages.ts'

export interface MultiplexedSocketOptions {
  /** Of the client. */
  readonly address: string
  readonly pressure: ReadBackpressure
  /** The client wants a document. The channel is paused. */
  readonly onToken: (channel: DocumentChannel, token: string) => void
  /** A client that nobody knows has sent more than it may. */
  readonly tooMuch: () => void
  /** The server closes the connection because of what the client has sent. */
  readonly closed: (reason: Close) => void
  /** The connection is gone. */
  readonly gone: () => void
}

/** Limits before authentication: bytes of all messages, messages, and documents asked for. */
const unknownMax = { bytes: 1_048_576, messages: 1_000, documents: 100 } as const
/** Documents on one socket. */
const documentsMax = 1_000
/**
 * A document that is refused for the moment ends its socket after so long, up to twice as long. Never at once: version 2
 * of the provider does not wait before it comes back.
 */
const closeForOneMs = { alone: 1_000, withOthers: 4_000 } as const

/** Who wants nothing to be read: documents, checks, what is for none, and the socket itself while its client does not read. */
type ChannelEntry = DocumentChannel | Promise<unknown> | UnroutedMessages | MultiplexedSocket

/** A websocket on which a client has any number of documents, each under its name. */
export class MultiplexedSocket implements SocketListener, ChannelTransport {
  readonly socket: ClientSocket
  readonly #parts: MultiplexedSocketOptions
  readonly #channels = new Map<string, DocumentChannel>()
  readonly #holding = new Set<ChannelEntry>()
  readonly #unrouted: UnroutedMessages
  /** The document for which an incomplete message is counted. */
  #counting: DocumentChannel | null = null
  #closing: NodeJS.Timeout | null = null
  #unknown: { bytes: number; messages: number } | null = { bytes: 0, messages: 0 }
  #isPinged = false

  constructor(socket: ClientSocket, parts: MultiplexedSocketOptions) {
    this.socket = socket
    this.#parts = parts
    this.#unrouted = new UnroutedMessages(this, parts.pressure, parts.address)
    socket.listen(this)
    socket.onClosed(() => this.#gone())
  }

  /** Documents that are open or asked for. */
  get size(): number {
    return this.#channels.size
  }

  /** Has a document been opened? */
  get isKnown(): boolean {
    return this.#unknown === null
  }

  /** The client is known by one of its documents. */
  know(workspaceId: string): void {
    if (this.#unknown === null) return
    this.#unknown = null
    this.#unrouted.know(workspaceId)
    this.socket.admit(workspaceId)
  }

  message(data: Buffer, isBinary: boolean): void {
    this.incomplete(0)
    if (!this.#mayGoOn(data.length)) return
    if (!isBinary)
      return this.#endForGood(close('badRequest', 'text message received; this protocol is binary'))
    try {
      this.#take(data)
    } catch (error) {
      if (!(error instanceof MalformedMessageError)) throw error
      this.#endForGood(close('badRequest', errorMessage(error).slice(0, 100)))
    }
    if (this.socket.isFull) this.#awaitReader()
  }

  /** The client's pings are answered by the socket itself. */
  ping(bytes: number): void {
    if (!this.#mayGoOn(bytes)) return
    this.#readUnrouted(bytes)
    if (this.socket.isFull) this.#awaitReader()
  }

  askForPong(): void {
    if (this.#isPinged) return
    this.#isPinged = true
    this.socket.ping()
  }

  pong(bytes: number): void {
    if (this.#mayGoOn(bytes)) this.#readUnrouted(bytes)
  }

  /** The document of the message is unknown yet: the first one counts it, as it does messages of unknown documents. */
  incomplete(bytes: number): void {
    if (bytes > 0) this.#counting ??= this.#channels.values().next().value ?? null
    this.#counting?.incomplete(bytes)
    if (bytes === 0) this.#counting = null
  }

  hold(holder: ChannelEntry): void {
    if (this.#holding.size === 0) this.socket.pause()
    this.#holding.add(holder)
  }

  release(holder: ChannelEntry): void {
    if (!this.#holding.delete(holder) || this.#holding.size > 0) return
    this.socket.resume()
    // It could not answer meanwhile.
    this.#noteMessage()
  }

  /** Nothing is read until `check` is settled, also when who has asked for it leaves: few are under way at once. */
  async held<T>(check: Promise<T>): Promise<T> {
    this.hold(check)
    return check.finally(() => this.release(check))
  }

  terminate(): void {
    if (this.#holding.size === 0) this.socket.terminate()
  }

  left(channel: DocumentChannel): void {
    if (this.#channels.get(channel.name) === channel) this.#channels.delete(channel.name)
  }

  end({ code, reason }: Close): void {
    this.close(code, reason)
  }

  /** The client may take its time to answer: it is in no document meanwhile, and what it says is read. */
  close(code: number, reason: string): void {
    // Version 3 of the provider begins to come back twice, for ever more often, when it has heard nothing before.
    this.socket.write(emptyNameMessage)
    this.socket.close(code, reason)
    for (const channel of this.#channels.values()) channel.leave()
    for (const holder of this.#holding) this.release(holder)
  }

  /** What goes on in other documents is not to be disturbed all the time. */
  closeForOne(code: number, reason: string): void {
    if (this.#closing !== null) return
    const share = 1 + Math.random()
    const end = (): void => this.close(code, reason)
    const { alone, withOthers } = closeForOneMs
    this.#closing = setTimeout(() => {
      // Others may have come in meanwhile: those that ask together are not answered together.
      if (this.#isUsed) this.#closing = setTimeout(end, (withOthers - alone) * share)
      else end()
    }, alone * share)
  }

  get #isUsed(): boolean {
    return [...this.#channels.values()].some(({ isIn }) => isIn)
  }

  #gone(): void {
    if (this.#closing !== null) clearTimeout(this.#closing)
    this.#unrouted.end()
    for (const channel of this.#channels.values()) channel.leave()
    this.#parts.gone()
  }

  #mayGoOn(bytes: number): boolean {
    if (!this.socket.isOpen) return false
    this.#noteMessage()
    return this.#unknown === null || this.#countUnknown(this.#unknown, bytes)
  }

  /** Whoever says something lives, also where its answer to a ping waits behind that. */
  #noteMessage(): void {
    if (!this.#isPinged) return
    this.#isPinged = false
    for (const channel of this.#channels.values()) channel.pong(0)
  }

  /** Much of what a client says is answered: who does not read that is not read either. */
  #awaitReader(): void {
    if (this.#holding.has(this)) return
    this.hold(this)
    this.socket.whenDrained(() => this.release(this))
  }

  #take(data: Buffer): void {
    const addressed = readRoutedMessage(data)
    if (addressed.kind !== 'document') {
      if (addressed.kind === 'ping') this.socket.write(pong)
      return this.#readUnrouted(data.length)
    }
    const channel = this.#channels.get(addressed.name)
    if (channel === undefined) {
      this.#readUnrouted(data.length)
      this.#readToken(addressed.name, addressed.message)
    } else if (isCloseMessage(addressed.message)) channel.leave()
    else channel.receive(addressed.message)
  }

  /** What is said to no document counts as said to the first. */
  #readUnrouted(bytes: number): void {
    const [first] = this.#channels.values()
    first?.pong(bytes)
    this.#unrouted.came()
  }

  /** Whoever was refused, or has left, may go on talking for a moment: only a token counts. */
  #readToken(name: string, message: Buffer): void {
    const auth = readAuthRequest(message)
    if (auth === null) return
    const { size } = this.#channels
    const most = this.isKnown ? documentsMax : unknownMax.documents
    if (size >= most)
      return this.socket.write(encodeDenied(name, `one connection has at most ${most} documents`))
    const channel = new DocumentChannel(name, this, auth.understandsClose)
    this.#channels.set(name, channel)
    channel.pause()
    this.#parts.onToken(channel, auth.token)
  }

  #endForGood(reason: Close): void {
    this.#parts.closed(reason)
    this.end(reason)
  }

  #countUnknown(unknown: { bytes: number; messages: number }, bytes: number): boolean {
    unknown.bytes += bytes
    unknown.messages += 1
    const isSmall = bytes <= unauthenticatedMessageBytesMax
    if (isSmall && unknown.bytes <= unknownMax.bytes && unknown.messages <= unknownMax.messages) return true
    this.#parts.tooMuch()
    this.#endForGood(
      close('unauthenticated', 'too many bytes received before a token', 'unauthenticatedBytes'),
    )
    return false
  }
}
