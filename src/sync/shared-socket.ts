import { messageOf } from '../errors.ts'
import { type Close, close } from '../model/close.ts'
import { MalformedMessage } from '../update/malformed.ts'
import { Channel, type Trunk } from './channel.ts'
import type { ClientSocket, SocketListener } from './client-socket.ts'
import type { ReadPressure } from './pressure.ts'
import { denied, isLeaving, nothing, pong, readAddressed, readKnocking } from './protocols/hocuspocus.ts'
import { Strays } from './strays.ts'

export interface SharedSocketParts {
  /** Of the client. */
  readonly address: string
  readonly pressure: ReadPressure
  /** The client wants a document. The channel is paused. */
  readonly knocked: (channel: Channel, token: string) => void
  /** A client that nobody knows has sent more than it may. */
  readonly tooMuch: () => void
  /** The connection is gone. */
  readonly gone: () => void
}

/**
 * What may come before the first document is opened: bytes of messages, messages, and documents asked for. Of what is not
 * a message yet twice as much: who is told why has to have finished one.
 */
const unknownMax = { bytes: 1_048_576, unfinishedBytes: 2_097_152, messages: 1_000, documents: 100 } as const
/** Documents on one socket. */
const documentsMax = 1_000
/**
 * A document that is refused for the moment ends its socket after so long, up to twice as long. Never at once: version 2
 * of the provider does not wait before it comes back.
 */
const closeForOneMs = { alone: 1_000, withOthers: 4_000 } as const

/** Who wants nothing to be read: documents, checks, what is for none, and the socket itself while its client does not read. */
type Holder = Channel | Promise<unknown> | Strays | SharedSocket

/** A websocket on which a client has any number of documents, each under its name. */
export class SharedSocket implements SocketListener, Trunk {
  readonly socket: ClientSocket
  readonly #parts: SharedSocketParts
  readonly #channels = new Map<string, Channel>()
  readonly #holding = new Set<Holder>()
  readonly #strays: Strays
  #closing: NodeJS.Timeout | null = null
  #unknown: { bytes: number; messages: number } | null = { bytes: 0, messages: 0 }
  #isPinged = false

  constructor(socket: ClientSocket, parts: SharedSocketParts) {
    this.socket = socket
    this.#parts = parts
    this.#strays = new Strays(this, parts.pressure, parts.address)
    socket.listen(this)
    socket.bound(unknownMax.unfinishedBytes)
    // Sockets of workers are not read before they are told to.
    socket.resume()
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
    this.#strays.know(workspaceId)
    this.socket.bound(null)
  }

  message(data: Buffer, isBinary: boolean): void {
    if (!this.#mayGoOn(data.length)) return
    if (!isBinary) return this.end(close('bad', 'text messages are not part of this protocol'))
    try {
      this.#take(data)
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error
      this.end(close('bad', messageOf(error).slice(0, 100)))
    }
    if (this.socket.isFull) this.#awaitReader()
  }

  /** The client's pings are answered by the socket itself. */
  ping(bytes: number): void {
    if (!this.#mayGoOn(bytes)) return
    this.#stray(bytes)
    if (this.socket.isFull) this.#awaitReader()
  }

  askForPong(): void {
    if (this.#isPinged) return
    this.#isPinged = true
    this.socket.ping()
  }

  pong(bytes: number): void {
    if (this.#mayGoOn(bytes)) this.#stray(bytes)
  }

  hold(holder: Holder): void {
    if (this.#holding.size === 0) this.socket.pause()
    this.#holding.add(holder)
  }

  release(holder: Holder): void {
    if (!this.#holding.delete(holder) || this.#holding.size > 0) return
    this.socket.resume()
    // It could not answer meanwhile.
    this.#heard()
  }

  /** Nothing is read until `check` is settled, also when who has asked for it leaves: few are under way at once. */
  async held<T>(check: Promise<T>): Promise<T> {
    this.hold(check)
    return check.finally(() => this.release(check))
  }

  terminate(): void {
    if (this.#holding.size === 0) this.socket.terminate()
  }

  left(channel: Channel): void {
    if (this.#channels.get(channel.name) === channel) this.#channels.delete(channel.name)
  }

  end({ code, reason }: Close): void {
    this.close(code, reason)
  }

  /** The client may take its time to answer: it is in no document meanwhile, and what it says is read. */
  close(code: number, reason: string): void {
    // Version 3 of the provider begins to come back twice, for ever more often, when it has heard nothing before.
    this.socket.write(nothing)
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
    this.#strays.end()
    for (const channel of this.#channels.values()) channel.leave()
    this.#parts.gone()
  }

  #mayGoOn(bytes: number): boolean {
    if (!this.socket.isOpen) return false
    this.#heard()
    return this.#unknown === null || this.#countUnknown(this.#unknown, bytes)
  }

  /** Whoever says something lives, also where its answer to a ping waits behind that. */
  #heard(): void {
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
    const addressed = readAddressed(data)
    if (addressed.kind !== 'document') {
      if (addressed.kind === 'ping') this.socket.write(pong)
      return this.#stray(data.length)
    }
    const channel = this.#channels.get(addressed.name)
    if (channel === undefined) {
      this.#stray(data.length)
      this.#knock(addressed.name, addressed.message)
    } else if (isLeaving(addressed.message)) channel.leave()
    else channel.receive(addressed.message)
  }

  /** What is said to no document counts as said to the first. */
  #stray(bytes: number): void {
    const [first] = this.#channels.values()
    first?.pong(bytes)
    this.#strays.came()
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
