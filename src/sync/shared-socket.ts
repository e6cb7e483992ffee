import { messageOf } from '../errors.ts'
import { type Close, close } from '../model/close.ts'
import { MalformedMessage } from '../update/malformed.ts'
import { Channel, type Trunk } from './channel.ts'
import type { ClientSocket, SocketListener } from './client-socket.ts'
import { denied, isLeaving, pong, readAddressed, readKnocking } from './protocols/hocuspocus.ts'

export interface SharedSocketParts {
  /** The client wants a document. The channel is paused. */
  readonly knocked: (channel: Channel, token: string) => void
  /** A client that nobody knows has sent more than it may. */
  readonly tooMuch: () => void
  /** The connection is gone. */
  readonly gone: () => void
}

/** What may come before the first document is opened: bytes, messages, and documents asked for. */
const unknownMax = { bytes: 1_048_576, messages: 1_000, documents: 100 } as const
/** Documents on one socket. */
const documentsMax = 1_000

/** A websocket on which a client has any number of documents, each under its name. */
export class SharedSocket implements SocketListener, Trunk {
  readonly socket: ClientSocket
  readonly #parts: SharedSocketParts
  readonly #channels = new Map<string, Channel>()
  readonly #holding = new Set<Channel>()
  #unknown: { bytes: number; messages: number } | null = { bytes: 0, messages: 0 }
  #isPinged = false

  constructor(socket: ClientSocket, parts: SharedSocketParts) {
    this.socket = socket
    this.#parts = parts
    socket.listen(this)
    // Sockets of workers are not read before they are told to.
    socket.resume()
    socket.onClosed(() => {
      for (const channel of this.#channels.values()) channel.leave()
      parts.gone()
    })
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
  know(): void {
    this.#unknown = null
  }

  message(data: Buffer, isBinary: boolean): void {
    if (!isBinary) return this.end(close('bad', 'text messages are not part of this protocol'))
    if (this.#unknown !== null && !this.#countUnknown(this.#unknown, data.length)) return
    try {
      this.#take(data)
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error
      this.end(close('bad', messageOf(error).slice(0, 100)))
    }
  }

  /** The client's pings are answered by the socket itself. */
  ping(): void {}

  askForPong(): void {
    if (this.#isPinged) return
    this.#isPinged = true
    this.socket.ping()
  }

  pong(bytes: number): void {
    this.#isPinged = false
    let counted = bytes
    for (const channel of this.#channels.values()) {
      channel.pong(counted)
      counted = 0
    }
  }

  hold(channel: Channel): void {
    if (this.#holding.size === 0) this.socket.pause()
    this.#holding.add(channel)
  }

  release(channel: Channel): void {
    if (this.#holding.delete(channel) && this.#holding.size === 0) this.socket.resume()
  }

  left(channel: Channel): void {
    if (this.#channels.get(channel.name) === channel) this.#channels.delete(channel.name)
  }

  end(reason: Close): void {
    this.socket.close(reason.code, reason.reason)
  }

  #take(data: Buffer): void {
    const addressed = readAddressed(data)
    if (addressed.kind !== 'document') {
      if (addressed.kind === 'ping') this.socket.write(pong)
      return
    }
    const channel = this.#channels.get(addressed.name)
    if (channel === undefined) this.#knock(addressed.name, addressed.message)
    else if (isLeaving(addressed.message)) channel.leave()
    else channel.receive(addressed.message)
  }

  /** Whoever was refused, or has left, may go on talking for a moment: only a token counts. */
  #knock(name: string, message: Buffer): void {
    const knocking = readKnocking(message)
    if (knocking === null) return
    const { size } = this.#channels
    const most = this.isKnown ? documentsMax : unknownMax.documents
    if (size >= most) return this.socket.write(denied(name, `one connection has at most ${most} documents`))
    const channel = new Channel(name, this, knocking.understandsClose)
    this.#channels.set(name, channel)
    channel.pause()
    this.#parts.knocked(channel, knocking.token)
  }

  #countUnknown(unknown: { bytes: number; messages: number }, bytes: number): boolean {
    unknown.bytes += bytes
    unknown.messages += 1
    if (unknown.bytes <= unknownMax.bytes && unknown.messages <= unknownMax.messages) return true
    this.#parts.tooMuch()
    this.end(close('unauthenticated', 'too much was sent without a token', 'unauthenticatedBytes'))
    return false
  }
}
