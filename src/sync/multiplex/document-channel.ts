import { closeCodes } from '../../model/close.ts'
import { encodeClosed, encodeDenied } from '../protocols/hocuspocus.ts'
import type { ClientSocket, SocketListener } from '../socket/client-socket.ts'

/** The socket that channels share. */
export interface ChannelTransport {
  readonly socket: ClientSocket
  /** Nothing is read while a channel holds it. */
  hold(channel: DocumentChannel): void
  release(channel: DocumentChannel): void
  /** Each channel hears of the answer, whoever has asked. */
  askForPong(): void
  /** Ends all channels. */
  close(code: number, reason: string): void
  /** The same in a while, for the sake of one that was refused for the moment. */
  closeForOne(code: number, reason: string): void
  /** The same without a word, unless nothing is read: then the client cannot have answered. */
  terminate(): void
  /** The channel is closed. */
  left(channel: DocumentChannel): void
}

/** Closes after which a client is to come back by itself. */
const transient: readonly number[] = [closeCodes.serviceRestart, closeCodes.tryAgainLater]

/**
 * One document on a socket that several share, as a socket of its own. What refuses or ends it for good is said as a
 * message: the others stay. What does so for the moment ends the socket, without a message about the document: only then
 * do clients come back by themselves, and an application takes that message for an answer.
 */
export class DocumentChannel implements ClientSocket {
  /** As the client calls it: `organization/document/editor`, and what may follow a NUL. */
  readonly name: string
  readonly #trunk: ChannelTransport
  readonly #understandsClose: boolean
  #listener: SocketListener | null = null
  #isPaused = false
  #state: 'open' | 'closed' = 'open'
  /** What has come while nothing was to be read: it had been read of the socket already. */
  readonly #waiting: Buffer[] = []
  readonly #onClosed: (() => void)[] = []

  constructor(name: string, trunk: ChannelTransport, understandsClose: boolean) {
    this.name = name
    this.#trunk = trunk
    this.#understandsClose = understandsClose
  }

  get isOpen(): boolean {
    return this.#state === 'open' && this.#trunk.socket.isOpen
  }

  /** Has its client been let in? */
  get isIn(): boolean {
    return this.#listener !== null
  }

  get isFull(): boolean {
    return this.#trunk.socket.isFull
  }

  get isCrowded(): boolean {
    return this.#trunk.socket.isCrowded
  }

  listen(listener: SocketListener): void {
    this.#listener = listener
  }

  onClosed(fn: () => void): void {
    this.#onClosed.push(fn)
  }

  write(frames: Uint8Array): void {
    if (this.#state === 'open') this.#trunk.socket.write(frames)
  }

  whenDrained(fn: () => void): void {
    this.#trunk.socket.whenDrained(() => {
      if (this.#state === 'open') fn()
    })
  }

  ping(): void {
    this.#trunk.askForPong()
  }

  pause(): void {
    this.#isPaused = true
    if (this.#state === 'open') this.#trunk.hold(this)
  }

  resume(): void {
    this.#isPaused = false
    this.#trunk.release(this)
    while (!this.#isPaused && this.#state === 'open') {
      const message = this.#waiting.shift()
      if (message === undefined) return
      this.#listener?.message(message, true)
    }
  }

  /** The trunk is admitted, once. */
  admit(): void {}

  close(code: number, reason: string): void {
    if (this.#state !== 'open') return
    if (transient.includes(code)) return this.#endForNow(code, reason)
    this.write(encodeDenied(this.name, reason))
    if (this.#understandsClose) this.write(encodeClosed(this.name, reason))
    this.leave()
  }

  terminate(): void {
    this.#trunk.terminate()
  }

  /** A message to this document, without its name. */
  receive(message: Buffer): void {
    if (this.#state !== 'open') return
    if (this.#listener === null || this.#isPaused || this.#waiting.length > 0) this.#waiting.push(message)
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

  #endForNow(code: number, reason: string): void {
    if (this.isIn) return this.#trunk.close(code, reason)
    this.leave()
    this.#trunk.closeForOne(code, reason)
  }

  /** It is closed, by the client or by us. */
  leave(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#waiting.length = 0
    this.#trunk.release(this)
    this.#trunk.left(this)
    // As with sockets: not within the call that closes.
    queueMicrotask(() => {
      for (const fn of this.#onClosed) fn()
    })
  }
}
