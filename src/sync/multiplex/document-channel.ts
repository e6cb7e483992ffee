import { closeCodes } from '../../model/close.ts'
import { encodeClosed, encodeDenied } from '../protocols/hocuspocus.ts'
import type { ClientSocket, SocketListener } from '../socket/client-socket.ts'

/** The socket that channels share. */
export interface ChannelTransport {
  readonly socket: ClientSocket
  /** Nothing is read while a channel holds it. */
  pauseFor(channel: DocumentChannel): void
  resumeFor(channel: DocumentChannel): void
  /** Each channel hears of the answer, whoever has asked. */
  requestPong(): void
  /** Ends all channels. */
  close(code: number, reason: string): void
  /** The same in a while, for the sake of one that was refused for the moment. */
  closeLater(code: number, reason: string): void
  /** The same without a word, unless nothing is read: then the client cannot have answered. */
  terminate(): void
  /** The channel is closed. */
  channelClosed(channel: DocumentChannel): void
}

/** Closes after which a client is to come back by itself. */
const transientCodes: readonly number[] = [closeCodes.serviceRestart, closeCodes.tryAgainLater]

/**
 * One document on a socket that several share, as a socket of its own. What refuses or ends it for good is said as a
 * message: the others stay. What does so for the moment ends the socket, without a message about the document: only then
 * do clients come back by themselves, and an application takes that message for an answer.
 */
export class DocumentChannel implements ClientSocket {
  /** As the client calls it: `organization/document/editor`, and what may follow a NUL. */
  readonly name: string
  readonly #transport: ChannelTransport
  readonly #understandsClose: boolean
  #listener: SocketListener | null = null
  #isPaused = false
  #state: 'open' | 'closed' = 'open'
  /** What has come while nothing was to be read: it had been read of the socket already. */
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

  /** Has its client been let in? */
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

  /** The trunk is admitted, once. */
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

  /** It is closed, by the client or by us. */
  closeChannel(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#queued.length = 0
    this.#transport.resumeFor(this)
    this.#transport.channelClosed(this)
    // As with sockets: not within the call that closes.
    queueMicrotask(() => {
      for (const fn of this.#onClosed) fn()
    })
  }
}
