import { closeCodes } from '../../model/close.ts'
import { encodeClosed, encodeDenied } from '../protocols/hocuspocus.ts'
import type { ClientSocket, SocketListener } from '../socket/client-socket.ts'

/** The multiplexed socket of the channels. */
export interface ChannelTransport {
  readonly socket: ClientSocket
  /** Pauses the socket until `resumeFor` is called with the same channel. */
  pauseFor(channel: DocumentChannel): void
  resumeFor(channel: DocumentChannel): void
  /** Sends a ping. Each channel receives the answer. */
  requestPong(): void
  /** Ends all channels. */
  close(code: number, reason: string): void
  /** Closes all channels after a delay, because one was rejected transiently. */
  closeLater(code: number, reason: string): void
  /** Terminates the socket, unless it is paused: then the client was not able to answer. */
  terminate(): void
  /** The channel is closed. */
  channelClosed(channel: DocumentChannel): void
}

/** Close codes after which a client must reconnect by itself. */
const transientCodes: readonly number[] = [closeCodes.serviceRestart, closeCodes.tryAgainLater]

/**
 * One document on a multiplexed socket, as a socket of its own. A permanent rejection or close is sent as a
 * message, and the other documents stay open. A transient one closes the whole socket, without a message about the
 * document: only then do clients reconnect by themselves, and an application would take that message for a final
 * one.
 */
export class DocumentChannel implements ClientSocket {
  /** The name that the client sends: `organization/document/editor`, and an optional suffix after a NUL. */
  readonly name: string
  readonly #transport: ChannelTransport
  readonly #understandsClose: boolean
  #listener: SocketListener | null = null
  #isPaused = false
  #state: 'open' | 'closed' = 'open'
  /** Messages that had been read from the socket before it was paused. */
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

  /** True if the client has a session. */
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

  /** Does nothing: the multiplexed socket is admitted once. */
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

  /** A message to this document, without its name. */
  receive(message: Buffer): void {
    if (this.#state !== 'open') return
    if (this.#listener === null || this.#isPaused || this.#queued.length > 0) this.#queued.push(message)
    else this.#listener.message(message, true)
  }

  /** The client has answered a ping. @param bytes counted for this document */
  pong(bytes: number): void {
    this.#listener?.pong(bytes)
  }

  /** Bytes of an incomplete message, counted for this document. */
  incomplete(bytes: number): void {
    this.#listener?.incomplete(bytes)
  }

  #closeTransport(code: number, reason: string): void {
    if (this.hasSession) return this.#transport.close(code, reason)
    this.closeChannel()
    this.#transport.closeLater(code, reason)
  }

  /** Closes the channel, for the client or for the server. */
  closeChannel(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#queued.length = 0
    this.#transport.resumeFor(this)
    this.#transport.channelClosed(this)
    // As with sockets, listeners run only after the call that closes.
    queueMicrotask(() => {
      for (const fn of this.#onClosed) fn()
    })
  }
}
