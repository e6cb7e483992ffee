import { closeCodes } from '../../model/close.ts'
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
  /** Ends all channels. */
  close(code: number, reason: string): void
  /** Closes all channels after a delay, because one channel was rejected transiently. */
  closeLater(code: number, reason: string): void
  /**
   * Terminates the socket. Does nothing while the socket is paused, because the pong of the client cannot be
   * read then.
   */
  terminate(): void
  /** Removes a channel that is closed. */
  channelClosed(channel: DocumentChannel): void
}

/** Close codes after which a client must reconnect automatically. */
const transientCodes: readonly number[] = [closeCodes.serviceRestart, closeCodes.tryAgainLater]

/**
 * One document on a multiplexed websocket. It has the interface of a socket. A permanent rejection or close
 * is sent as a message, and the other documents stay open. A transient rejection or close closes the whole
 * websocket, because clients reconnect automatically only then. In this case no message is sent for the
 * document, because an application would treat the message as final.
 */
export class DocumentChannel implements ClientSocket {
  /**
   * The document name that the client sends: `organization/document/editor`, optionally followed by a NUL and
   * a suffix.
   */
  readonly name: string
  readonly #transport: ChannelTransport
  readonly #understandsClose: boolean
  #listener: SocketListener | null = null
  #isPaused = false
  #state: 'open' | 'closed' = 'open'
  /** Messages that were read from the socket before it was paused. */
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

  whenDrained(fn: () => void): void {
    this.#transport.socket.whenDrained(() => {
      if (this.#state === 'open') fn()
    })
  }

  ping(): void {
    this.#transport.requestPong()
  }

  pause(): void {
    this.#isPaused = true
    if (this.#state === 'open') this.#transport.pauseFor(this)
  }

  resume(): void {
    this.#isPaused = false
    this.#transport.resumeFor(this)
    while (!this.#isPaused && this.#state === 'open') {
      const message = this.#queued.shift()
      if (message === undefined) return
      this.#listener?.message(message, true)
    }
  }

  /** Does nothing, because the multiplexed websocket is admitted as a whole. */
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
   * Passes a message, without the document name, to the session. Queues the message while the channel is
   * paused or has no session.
   */
  receive(message: Buffer): void {
    if (this.#state !== 'open') return
    if (this.#listener === null || this.#isPaused || this.#queued.length > 0) this.#queued.push(message)
    else this.#listener.message(message, true)
  }

  /** Reports that the client has replied to a ping. @param bytes bytes to charge to this document */
  pong(bytes: number): void {
    this.#listener?.pong(bytes)
  }

  /** Reports the bytes of an incomplete message that are charged to this document. */
  incomplete(bytes: number): void {
    this.#listener?.incomplete(bytes)
  }

  #closeTransport(code: number, reason: string): void {
    if (this.hasSession) return this.#transport.close(code, reason)
    this.closeChannel()
    this.#transport.closeLater(code, reason)
  }

  /** Closes the channel after a message of the client or of the server. */
  closeChannel(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#queued.length = 0
    this.#transport.resumeFor(this)
    this.#transport.channelClosed(this)
    // As for sockets, listeners run only after the call that closes the channel has returned.
    queueMicrotask(() => {
      for (const fn of this.#onClosed) fn()
    })
  }
}
