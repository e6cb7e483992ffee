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
  readonly backpressure: ReadBackpressure
  /** The client wants a document. The channel is paused. */
  readonly onToken: (channel: DocumentChannel, token: string) => void
  /** A client that nobody knows has sent more than it may. */
  readonly onUnauthenticatedLimit: () => void
  /** The server closes the connection because of what the client has sent. */
  readonly onPermanentClose: (reason: Close) => void
  /** The connection is gone. */
  readonly onClosed: () => void
}

/** Limits before authentication: bytes of all messages, messages, and documents asked for. */
const unauthenticatedMax = { bytes: 1_048_576, messages: 1_000, documents: 100 } as const
/** Documents on one socket. */
const documentsMax = 1_000
/**
 * A document that is refused for the moment ends its socket after so long, up to twice as long. Never at once: version 2
 * of the provider does not wait before it comes back.
 */
const closeLaterMs = { alone: 1_000, withOthers: 4_000 } as const

/** Who wants nothing to be read: documents, checks, what is for none, and the socket itself while its client does not read. */
type PauseReason = DocumentChannel | Promise<unknown> | UnroutedMessages | MultiplexedSocket

/** A websocket on which a client has any number of documents, each under its name. */
export class MultiplexedSocket implements SocketListener, ChannelTransport {
  readonly socket: ClientSocket
  readonly #options: MultiplexedSocketOptions
  readonly #channels = new Map<string, DocumentChannel>()
  readonly #pauseReasons = new Set<PauseReason>()
  readonly #unrouted: UnroutedMessages
  /** The document for which an incomplete message is counted. */
  #incompleteChannel: DocumentChannel | null = null
  #closeTimer: NodeJS.Timeout | null = null
  #unauthenticated: { bytes: number; messages: number } | null = { bytes: 0, messages: 0 }
  #isPinged = false

  constructor(socket: ClientSocket, options: MultiplexedSocketOptions) {
    this.socket = socket
    this.#options = options
    this.#unrouted = new UnroutedMessages(this, options.backpressure, options.address)
    socket.listen(this)
    socket.onClosed(() => this.#onSocketClosed())
  }

  /** Documents that are open or asked for. */
  get size(): number {
    return this.#channels.size
  }

  /** Has a document been opened? */
  get isAuthenticated(): boolean {
    return this.#unauthenticated === null
  }

  /** The client is known by one of its documents. */
  authenticated(workspaceId: string): void {
    if (this.#unauthenticated === null) return
    this.#unauthenticated = null
    this.#unrouted.authenticated(workspaceId)
    this.socket.admit(workspaceId)
  }

  message(data: Buffer, isBinary: boolean): void {
    this.incomplete(0)
    if (!this.#acceptBytes(data.length)) return
    if (!isBinary)
      return this.#endPermanently(close('badRequest', 'text message received; this protocol is binary'))
    try {
      this.#route(data)
    } catch (error) {
      if (!(error instanceof MalformedMessageError)) throw error
      this.#endPermanently(close('badRequest', errorMessage(error).slice(0, 100)))
    }
    if (this.socket.isFull) this.#awaitDrain()
  }

  /** The client's pings are answered by the socket itself. */
  ping(bytes: number): void {
    if (!this.#acceptBytes(bytes)) return
    this.#countUnrouted(bytes)
    if (this.socket.isFull) this.#awaitDrain()
  }

  requestPong(): void {
    if (this.#isPinged) return
    this.#isPinged = true
    this.socket.ping()
  }

  pong(bytes: number): void {
    if (this.#acceptBytes(bytes)) this.#countUnrouted(bytes)
  }

  /** The document of the message is unknown yet: the first one counts it, as it does messages of unknown documents. */
  incomplete(bytes: number): void {
    if (bytes > 0) this.#incompleteChannel ??= this.#channels.values().next().value ?? null
    this.#incompleteChannel?.incomplete(bytes)
    if (bytes === 0) this.#incompleteChannel = null
  }

  pauseFor(reason: PauseReason): void {
    if (this.#pauseReasons.size === 0) this.socket.pause()
    this.#pauseReasons.add(reason)
  }

  resumeFor(reason: PauseReason): void {
    if (!this.#pauseReasons.delete(reason) || this.#pauseReasons.size > 0) return
    this.socket.resume()
    // It could not answer meanwhile.
    this.#confirmAlive()
  }

  /** Nothing is read until `check` is settled, also when who has asked for it leaves: few are under way at once. */
  async pauseDuring<T>(check: Promise<T>): Promise<T> {
    this.pauseFor(check)
    return check.finally(() => this.resumeFor(check))
  }

  terminate(): void {
    if (this.#pauseReasons.size === 0) this.socket.terminate()
  }

  channelClosed(channel: DocumentChannel): void {
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
    for (const channel of this.#channels.values()) channel.closeChannel()
    for (const reason of this.#pauseReasons) this.resumeFor(reason)
  }

  /** What goes on in other documents is not to be disturbed all the time. */
  closeLater(code: number, reason: string): void {
    if (this.#closeTimer !== null) return
    const share = 1 + Math.random()
    const end = (): void => this.close(code, reason)
    const { alone, withOthers } = closeLaterMs
    this.#closeTimer = setTimeout(() => {
      // Others may have come in meanwhile: those that ask together are not answered together.
      if (this.#hasSessions) this.#closeTimer = setTimeout(end, (withOthers - alone) * share)
      else end()
    }, alone * share)
  }

  get #hasSessions(): boolean {
    return [...this.#channels.values()].some(({ hasSession }) => hasSession)
  }

  #onSocketClosed(): void {
    if (this.#closeTimer !== null) clearTimeout(this.#closeTimer)
    this.#unrouted.end()
    for (const channel of this.#channels.values()) channel.closeChannel()
    this.#options.onClosed()
  }

  #acceptBytes(bytes: number): boolean {
    if (!this.socket.isOpen) return false
    this.#confirmAlive()
    return this.#unauthenticated === null || this.#countUnauthenticated(this.#unauthenticated, bytes)
  }

  /** Whoever says something lives, also where its answer to a ping waits behind that. */
  #confirmAlive(): void {
    if (!this.#isPinged) return
    this.#isPinged = false
    for (const channel of this.#channels.values()) channel.pong(0)
  }

  /** Much of what a client says is answered: who does not read that is not read either. */
  #awaitDrain(): void {
    if (this.#pauseReasons.has(this)) return
    this.pauseFor(this)
    this.socket.whenDrained(() => this.resumeFor(this))
  }

  #route(data: Buffer): void {
    const routed = readRoutedMessage(data)
    if (routed.kind !== 'document') {
      if (routed.kind === 'ping') this.socket.write(pong)
      return this.#countUnrouted(data.length)
    }
    const channel = this.#channels.get(routed.name)
    if (channel === undefined) {
      this.#countUnrouted(data.length)
      this.#openChannel(routed.name, routed.message)
    } else if (isCloseMessage(routed.message)) channel.closeChannel()
    else channel.receive(routed.message)
  }

  /** What is said to no document counts as said to the first. */
  #countUnrouted(bytes: number): void {
    const [first] = this.#channels.values()
    first?.pong(bytes)
    this.#unrouted.received()
  }

  /** Whoever was refused, or has left, may go on talking for a moment: only a token counts. */
  #openChannel(name: string, message: Buffer): void {
    const auth = readAuthRequest(message)
    if (auth === null) return
    const { size } = this.#channels
    const channelsMax = this.isAuthenticated ? documentsMax : unauthenticatedMax.documents
    if (size >= channelsMax)
      return this.socket.write(encodeDenied(name, `one connection has at most ${channelsMax} documents`))
    const channel = new DocumentChannel(name, this, auth.understandsClose)
    this.#channels.set(name, channel)
    channel.pause()
    this.#options.onToken(channel, auth.token)
  }

  #endPermanently(reason: Close): void {
    this.#options.onPermanentClose(reason)
    this.end(reason)
  }

  #countUnauthenticated(unauthenticated: { bytes: number; messages: number }, bytes: number): boolean {
    unauthenticated.bytes += bytes
    unauthenticated.messages += 1
    const isSmall = bytes <= unauthenticatedMessageBytesMax
    if (
      isSmall &&
      unauthenticated.bytes <= unauthenticatedMax.bytes &&
      unauthenticated.messages <= unauthenticatedMax.messages
    )
      return true
    this.#options.onUnauthenticatedLimit()
    this.#endPermanently(
      close('unauthenticated', 'too many bytes received before a token', 'unauthenticatedBytes'),
    )
    return false
  }
}
