import { closeCodes } from '../../model/close.ts'
import type { TransportName } from '../../rooms/room/open-connections.ts'
import { encodeClosed, encodeDenied } from '../protocols/hocuspocus.ts'
import type { ClientSocket, SocketListener } from '../socket/client-socket.ts'

/** The multiplexed websocket to which the channels belong. */
export interface ChannelTransport {
  readonly socket: ClientSocket
  /** Pauses the socket until `resumeFor` is called with the same channel. */
  pauseFor(channel: DocumentChannel): void
  resumeFor(channel: DocumentChannel): void
  /** Sends a ping. Each channel receives the pong. */
  requestPong(): void
  /** Closes the socket with all its channels. */
  close(code: number, reason: string): void
  /** Closes the socket after a delay, because one channel was rejected with a transient code. */
  closeLater(code: number, reason: string): void
  /**
   * Terminates the socket. Does nothing while the socket is paused, because the server cannot read the pong
   * of the client then.
   */
  terminate(): void
  /** Removes a closed channel. */
  channelClosed(channel: DocumentChannel): void
}

/** Close codes after which a client must reconnect automatically. */
const transientCodes: readonly number[] = [closeCodes.serviceRestart, closeCodes.tryAgainLater]

/**
 * One document on a multiplexed websocket, with the interface of a separate socket.
 *
 * After a permanent rejection or close, the client receives a message for this document, and the other
 * documents stay open. A transient rejection or close closes the whole websocket, because clients reconnect
 * automatically only then. In this case no message is sent for the document, because an application would
 * treat the message as final.
 */
export class DocumentChannel implements ClientSocket {
  /**
   * The document name as the client sends it: `organization/document/editor`, optionally followed by a NUL
   * and a suffix.
   */
  readonly name: string
  readonly #transport: ChannelTransport
  readonly #understandsClose: boolean
  #listener: SocketListener | null = null
  #state: 'open' | 'closed' = 'open'
  /** Messages that wait until the channel has a session. They were read from the socket before it was paused. */
  readonly #queued: Buffer[] = []
  readonly #onClosed: (() => void)[] = []

  constructor(name: string, transport: ChannelTransport, understandsClose: boolean) {
    this.name = name
    this.#transport = transport
    this.#understandsClose = understandsClose
  }

  get isOpen(): boolean {
    return this.#state === 'open' && this.#transport.socket.isOpen
  }

  /** True if a session uses the channel. */
  get hasSession(): boolean {
    return this.#listener !== null
  }

  get transport(): TransportName {
    return this.#transport.socket.transport
  }

  get isFull(): boolean {
    return this.#transport.socket.isFull
  }

  get isCrowded(): boolean {
    return this.#transport.socket.isCrowded
  }

  listen(listener: SocketListener): void {
    this.#listener = listener
  }

  onClosed(fn: () => void): void {
    this.#onClosed.push(fn)
  }

  write(frames: Uint8Array): void {
    if (this.#state === 'open') this.#transport.socket.write(frames)
  }

  share(frames: Uint8Array): void {
    this.write(frames)
  }

  whenDrained(fn: () => void): void {
    this.#transport.socket.whenDrained(() => {
      if (this.#state === 'open') fn()
    })
  }

  ping(): void {
    this.#transport.requestPong()
  }

  pause(): void {
    if (this.#state === 'open') this.#transport.pauseFor(this)
  }

  resume(): void {
    this.#transport.resumeFor(this)
    for (const message of this.#queued.splice(0)) this.receive(message)
  }

  /** Does nothing, because the endpoint marks the whole multiplexed websocket as authenticated. */
  admit(): void {}

  close(code: number, reason: string): void {
    if (this.#state !== 'open') return
    if (transientCodes.includes(code)) return this.#closeTransport(code, reason)
    this.write(encodeDenied(this.name, reason))
    if (this.#understandsClose) this.write(encodeClosed(this.name, reason))
    this.closeChannel()
  }

  terminate(): void {
    this.#transport.terminate()
  }

  /**
   * Passes a message, from which the document name has been removed, to the session. Queues the message while
   * the channel has no session. A paused session gets it at once, because the client may leave with the next message.
   */
  receive(message: Buffer): void {
    if (this.#state !== 'open') return
    if (this.#listener === null) this.#queued.push(message)
    else this.#listener.message(message, true)
  }

  /** Passes the start of a message that is too large to the session. Closes the channel if it has none yet. */
  receiveTooLarge(head: Buffer, bytes: number): void {
    if (this.#listener !== null) this.#listener.messageTooLarge(head, bytes)
    else this.close(closeCodes.tooLarge, 'the message is too large')
  }

  /** Reports to the session frames that are charged to this document (see `SocketListener.frames`). */
  frames(count: number, bytes: number): void {
    this.#listener?.frames(count, bytes)
  }

  /** Reports to the session the bytes of an incomplete message that are charged to this document. */
  incomplete(bytes: number): void {
    this.#listener?.incomplete(bytes)
  }

  #closeTransport(code: number, reason: string): void {
    if (this.hasSession) return this.#transport.close(code, reason)
    this.closeChannel()
    this.#transport.closeLater(code, reason)
  }

  /**
   * Closes the channel without a message to the client. Used when the client or the server has already sent a
   * message, or when the socket closes.
   */
  closeChannel(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#queued.length = 0
    this.#transport.resumeFor(this)
    this.#transport.channelClosed(this)
    // The listeners run after the call that closes the channel has returned, in the same way as those of
    // sockets.
    queueMicrotask(() => {
      for (const fn of this.#onClosed) fn()
    })
  }
}
