import type { Duplex } from 'node:stream'
import { type RawData, WebSocket } from 'ws'
import { closeCodes } from '../../model/close.ts'
import type { SocketListener } from './client-socket.ts'
import { interceptReads, limitClosing, rejectedBytesMax } from './incomplete-message.ts'
import type { MessageCutter } from './message-cutter.ts'
import type { WriteBatch } from './socket-writer.ts'

/**
 * Close code that `ws` uses for a message that is too large (RFC 6455 7.4.1). Clients treat this code as
 * transient and reconnect.
 */
const messageTooBigCode = 1009
/** Maximum bytes that wait for a client that still gets pongs. A client that does not read sees none. */
const pongWaitingBytesMax = 65_536

/**
 * A websocket with one listener. After a message that is too large, the websocket closes with a permanent
 * code instead of the code of `ws`, because the client would reconnect and only repeat the message.
 */
export class SyncSocket extends WebSocket {
  #listener: SocketListener | null = null
  /** Maximum size of a message in bytes, for the text of the close reason. */
  messageBytesMax = 0
  /** Cuts messages that are too large; null if they close the websocket. */
  #cutter: MessageCutter | null = null
  #isAdmitted = false
  #batch: WriteBatch | null = null
  /** The content of the last ping without a pong; null if there is none. */
  #ping: Buffer | null = null

  /** Records that the client is authenticated. A large message of it may be on its way when the server closes. */
  admit(): void {
    this.#isAdmitted = true
  }

  /**
   * Sets the listener, and answers pings from now on. Call it once. All sockets register the same function with `ws`, because separate
   * functions would take memory for each socket.
   */
  listen(listener: SocketListener, batch: WriteBatch): void {
    this.#listener = listener
    this.#batch = batch
    this.on('message', onMessage)
    this.on('ping', onPing)
  }

  /**
   * Reports messages that are too large to the listener, instead of closing the websocket. Call it before the
   * first message is read.
   */
  cutLargeMessages(cutter: MessageCutter): void {
    this.#cutter = cutter
    // The receiver of `ws` ends a websocket at the header of a frame that is too large.
    interceptReads(this, (chunk, read) =>
      cutter.pass(chunk).reduce((isEmpty, part) => read(part) && isEmpty, true),
    )
  }

  received(data: Buffer, isBinary: boolean): void {
    const cutBytes = this.#cutter?.nextCutBytes() ?? null
    if (cutBytes === null) this.#listener?.message(data, isBinary)
    else this.#listener?.messageTooLarge(data, cutBytes)
  }

  /** Answers only the last of the pings that arrive together, which RFC 6455 5.5.3 permits. */
  pinged(content: Buffer): void {
    if (this.#ping === null) this.#batch?.add(this)
    this.#ping = content
  }

  flush(): void {
    const content = this.#ping
    this.#ping = null
    if (content !== null && this.readyState === WebSocket.OPEN && this.bufferedAmount <= pongWaitingBytesMax)
      this.pong(content)
  }

  static listenerOf(socket: WebSocket): SocketListener | null {
    return socket instanceof SyncSocket ? socket.#listener : null
  }

  /** Closes the websocket. Nothing else limits the bytes that the client sends until it has replied. */
  override close(code?: number, data?: string | Buffer): void {
    // `ws` calls this method after an error of the client, and again to reply to a close frame.
    if (this.readyState === WebSocket.OPEN)
      limitClosing(
        this,
        Reflect.get(this, '_socket') as Duplex,
        rejectedBytesMax + (this.#isAdmitted ? this.messageBytesMax : 0),
      )
    if (code === messageTooBigCode)
      super.close(closeCodes.tooLarge, `message larger than ${this.messageBytesMax} bytes`)
    else super.close(code, data)
  }
}

function onPing(this: WebSocket, content: Buffer): void {
  if (this instanceof SyncSocket) this.pinged(content)
}

function onMessage(this: WebSocket, data: RawData, isBinary: boolean): void {
  if (this instanceof SyncSocket) this.received(data as Buffer, isBinary)
}
