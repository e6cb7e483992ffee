import { errorMessage } from '../../base/errors.ts'
import { type Close, close, closeCodes } from '../../model/close.ts'
import { unauthenticatedMessageBytesMax } from '../../quota/memory-bounds.ts'
import { type BudgetedReader, newTickBudget } from '../../quota/tick-shares.ts'
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

interface MultiplexedSocketOptions {
  /** Address of the client. */
  readonly address: string
  readonly backpressure: ReadBackpressure
  /**
   * Called when the client requests a document with a token. The channel is paused.
   * @param opening the message of the client
   */
  readonly onToken: (channel: DocumentChannel, token: string, opening: Buffer) => void
  /** Called when a client exceeds the limits before authentication. */
  readonly onUnauthenticatedLimit: () => void
  /**
   * Called when the server closes the connection with a permanent code, because of a message of the client.
   */
  readonly onPermanentClose: (reason: Close) => void
  /** Called when the connection is closed. */
  readonly onClosed: () => void
}

/**
 * Limits for a socket before authentication: total bytes of its messages, number of its frames, and number of
 * requested documents.
 */
const unauthenticatedMax = { bytes: 1_048_576, frames: 1_000, documents: 100 } as const
/** Number of frames that a token counts as in addition to its own. The server takes as long to check it. */
const tokenFrames = 20
/** Maximum number of documents on one socket. */
const documentsMax = 1_000
/**
 * Minimum delay in milliseconds between the transient rejection of one document and the close of its socket;
 * the maximum is twice as long. `withOthers` applies if other documents of the socket have sessions. The
 * socket is never closed immediately, because version 2 of the provider reconnects without a delay.
 */
const closeLaterMs = { alone: 1_000, withOthers: 4_000 } as const

/**
 * A reason to pause the socket: a paused document, a running check of a token, messages that exceed a budget, a full
 * tunnel to another node, or the socket itself while its client does not read.
 */
type PauseReason = object

/**
 * A websocket on which a client can open any number of documents. Each message contains the name of its
 * document.
 */
export class MultiplexedSocket implements SocketListener, ChannelTransport {
  readonly socket: ClientSocket
  readonly #options: MultiplexedSocketOptions
  readonly #channels = new Map<string, DocumentChannel>()
  /** The last documents that the client has left, at most `documentsMax`. */
  readonly #left = new Set<string>()
  readonly #pauseReasons = new Set<PauseReason>()
  readonly #unrouted: UnroutedMessages
  /** The document to which the bytes of the incomplete message are charged; null if there is none. */
  #incompleteChannel: DocumentChannel | null = null
  #closeTimer: NodeJS.Timeout | null = null
  #unauthenticated: { bytes: number; frames: number } | null = { bytes: 0, frames: 0 }
  #isPinged = false

  constructor(socket: ClientSocket, options: MultiplexedSocketOptions) {
    this.socket = socket
    this.#options = options
    this.#unrouted = new UnroutedMessages(this, options.backpressure, options.address)
    socket.listen(this)
    socket.onClosed(() => this.#onSocketClosed())
  }

  /** Number of documents that are open or being opened. */
  get size(): number {
    return this.#channels.size
  }

  /** True after the client has sent its first valid token. */
  get isAuthenticated(): boolean {
    return this.#unauthenticated === null
  }

  /** True if the client is not authenticated, and the server checks a token of the client or could not check one. */
  get hasUncheckedToken(): boolean {
    return !this.isAuthenticated && (this.#channels.size > 0 || this.#closeTimer !== null)
  }

  /** Marks the client as authenticated, because the token of one of its documents is valid. */
  authenticated(workspaceId: string): void {
    if (this.#unauthenticated === null) return
    this.#unauthenticated = null
    this.#unrouted.authenticated(workspaceId)
    this.socket.admit(workspaceId)
  }

  message(data: Buffer, isBinary: boolean): void {
    this.incomplete(0)
    if (!this.#acceptFrames(1, data.length)) return
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

  /**
   * Rejects the document of a message that is too large. The other documents stay open, because the client
   * would otherwise reconnect, send the message again, and be closed again.
   */
  messageTooLarge(head: Buffer, bytes: number): void {
    this.incomplete(0)
    if (!this.#acceptFrames(1, bytes)) return
    try {
      const routed = readRoutedMessage(head)
      const channel = routed.kind === 'document' ? this.#channels.get(routed.name) : undefined
      if (channel === undefined) this.#countUnrouted(1, bytes)
      else channel.receiveTooLarge(head, bytes)
    } catch (error) {
      if (!(error instanceof MalformedMessageError)) throw error
      this.#endPermanently(close('badRequest', errorMessage(error).slice(0, 100)))
    }
  }

  /** Counts control frames and fragments of the client. `ws` answers pings. */
  frames(count: number, bytes: number): void {
    if (!this.#acceptFrames(count, bytes)) return
    this.#countUnrouted(count, bytes)
    if (this.socket.isFull) this.#awaitDrain()
  }

  requestPong(): void {
    if (this.#isPinged) return
    this.#isPinged = true
    this.socket.ping()
  }

  /**
   * Charges the bytes of an incomplete message to the first open document, because the document name in the
   * message has not been read yet.
   */
  incomplete(bytes: number): void {
    if (bytes > 0) {
      this.#confirmAlive()
      this.#incompleteChannel ??= this.#channels.values().next().value ?? null
    }
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
    // The server was not able to read a pong while the socket was paused, so the client counts as alive.
    this.#confirmAlive()
  }

  /**
   * Pauses the socket until `check` is settled, even if the checked document is closed in the meantime. In
   * this way, the number of simultaneous checks stays limited.
   */
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

  /**
   * Closes the websocket and all documents. The documents are closed immediately, because the client may take
   * a long time to reply to the close frame. Reading resumes, so that the reply can be read.
   */
  close(code: number, reason: string): void {
    // Version 3 of the provider needs a message before the close: if it has received nothing, it reconnects
    // twice, and then more and more often.
    this.socket.write(emptyNameMessage)
    this.socket.close(code, reason)
    for (const channel of this.#channels.values()) channel.closeChannel()
    for (const reason of this.#pauseReasons) this.resumeFor(reason)
  }

  /**
   * Closes the socket after a delay. Further calls before the close do nothing, so that rejected documents do
   * not interrupt the other documents of the socket too often.
   */
  closeLater(code: number, reason: string): void {
    if (this.#closeTimer !== null) return
    const share = 1 + Math.random()
    const end = (): void => this.close(code, reason)
    const { alone, withOthers } = closeLaterMs
    this.#closeTimer = setTimeout(() => {
      // Other documents may have been opened during the delay, because tokens that arrive together are
      // checked one after the other.
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

  /** Returns whether frames are used. Frames after a close only count in the budget of the tick. */
  #acceptFrames(count: number, bytes: number): boolean {
    if (!this.socket.isOpen) {
      this.#unrouted.received(count)
      return false
    }
    this.#confirmAlive()
    return this.#unauthenticated === null || this.#countUnauthenticated(this.#unauthenticated, count, bytes)
  }

  /**
   * Records that the client is alive. Any message proves this; a pong may only arrive after other messages.
   */
  #confirmAlive(): void {
    if (!this.#isPinged) return
    this.#isPinged = false
    for (const channel of this.#channels.values()) channel.frames(0, 0)
  }

  /**
   * Pauses the socket until its client has read the sent bytes. Most messages get a reply, so unread replies
   * would accumulate otherwise.
   */
  #awaitDrain(): void {
    if (this.#pauseReasons.has(this)) return
    this.pauseFor(this)
    this.socket.whenDrained(() => this.resumeFor(this))
  }

  #route(data: Buffer): void {
    const routed = readRoutedMessage(data)
    if (routed.kind !== 'document') {
      if (routed.kind === 'ping') this.socket.write(pong)
      return this.#countUnrouted(1, data.length)
    }
    const channel = this.#channels.get(routed.name)
    if (channel === undefined) {
      this.#countUnrouted(1, data.length)
      this.#openChannel(routed.name, routed.message)
    } else if (isCloseMessage(routed.message)) this.#leave(channel)
    else channel.receive(routed.message)
  }

  /** Counts frames that belong to no open document. They are charged to the receive rate of the first document. */
  #countUnrouted(count: number, bytes: number): void {
    const [first] = this.#channels.values()
    first?.frames(count, bytes)
    this.#unrouted.received(count)
  }

  /**
   * Opens a channel if the message contains a token. Ignores any other message, because a client may still
   * send messages for a document that was rejected.
   */
  #openChannel(name: string, message: Buffer): void {
    const auth = readAuthRequest(message)
    if (auth === null) return this.#checkLeft(name, message)
    this.#unrouted.received(tokenFrames)
    this.#left.delete(name)
    const { size } = this.#channels
    const channelsMax = this.isAuthenticated ? documentsMax : unauthenticatedMax.documents
    if (size >= channelsMax)
      return this.socket.write(encodeDenied(name, `one connection has at most ${channelsMax} documents`))
    const channel = new DocumentChannel(name, this, auth.understandsClose)
    this.#channels.set(name, channel)
    channel.pause()
    this.#options.onToken(channel, auth.token, message)
  }

  #leave(channel: DocumentChannel): void {
    channel.closeChannel()
    this.#left.add(channel.name)
    if (this.#left.size > documentsMax) for (const oldest of this.#left) return void this.#left.delete(oldest)
  }

  /**
   * Closes the socket with a transient code if a client writes into a document that it has left. Then a page
   * has destroyed a provider before the socket opened, and mounted another one for the same document: the
   * provider queues the message with which the first one leaves, and sends it when the second one is open. The
   * second one shows that it is synced, and starts again only if it reconnects.
   */
  #checkLeft(name: string, message: Buffer): void {
    if (!this.#left.has(name) || isCloseMessage(message)) return
    const reason = 'a message for a document that the client has left; reconnect'
    const end = (): void => this.close(closeCodes.serviceRestart, reason)
    this.#closeTimer ??= setTimeout(end, closeLaterMs.alone * (1 + Math.random()))
  }

  #endPermanently(reason: Close): void {
    this.#options.onPermanentClose(reason)
    this.end(reason)
  }

  #countUnauthenticated(
    unauthenticated: { bytes: number; frames: number },
    frames: number,
    bytes: number,
  ): boolean {
    unauthenticated.bytes += bytes
    unauthenticated.frames += frames
    const isSmall = bytes <= unauthenticatedMessageBytesMax
    if (
      isSmall &&
      unauthenticated.bytes <= unauthenticatedMax.bytes &&
      unauthenticated.frames <= unauthenticatedMax.frames
    )
      return true
    this.#options.onUnauthenticatedLimit()
    this.#endPermanently(
      close('unauthenticated', 'too many bytes received before a token', 'unauthenticatedBytes'),
    )
    return false
  }
}

/**
 * Limits the frames on a multiplexed websocket that belong to no open document. Together, these frames
 * have a budget for each tick, as the messages of a document have.
 */
class UnroutedMessages implements BudgetedReader {
  readonly budget = newTickBudget()
  readonly #socket: MultiplexedSocket
  readonly #backpressure: ReadBackpressure
  /** The workspace of the client. Until the client is authenticated, the address of the client instead. */
  workspaceId: string

  constructor(socket: MultiplexedSocket, backpressure: ReadBackpressure, address: string) {
    this.#socket = socket
    this.#backpressure = backpressure
    this.workspaceId = address
  }

  authenticated(workspaceId: string): void {
    this.end()
    this.resumeReading()
    this.workspaceId = workspaceId
  }

  /** Counts frames. Must be called after each message, and for all other frames, that belong to no open document. */
  received(frames: number): void {
    this.#backpressure.check(this, frames)
  }

  pauseReading(): void {
    this.#socket.pauseFor(this)
  }

  resumeReading(): void {
    this.#socket.resumeFor(this)
  }

  /** Removes this reader from the backpressure. Must be called when the connection is closed. */
  end(): void {
    this.#backpressure.forget(this)
  }
}
