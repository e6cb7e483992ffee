import type { Socket } from 'node:net'
import type { NodeExchange } from '../../forwarding/node-connection.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import type { Close } from '../../model/close.ts'
import { frameClose } from '../protocols/frame.ts'
import { FrameBoundaries } from './incomplete-message.ts'
import type { SharedFrameReader, SharedFrameReceiver } from './shared-frame-receiver.ts'
import type { WriteBatch } from './socket-writer.ts'

/** Maximum time in ms until the next end of a message, after which a close frame can be sent. */
const messageEndMs = 1_000
/** Maximum time in ms that a client may take to reply to a close frame. */
const closeMs = 5_000
/** Maximum bytes that wait for a client. Beyond it, the client takes no shared frames. */
const waitingBytesMax = 65_536
/** Interval in ms of the packets that show whether the other node still exists. */
const keepAliveMs = 15_000

interface ForwardedSocketDependencies {
  readonly metrics: Pick<Metrics, 'forwarded'>
  readonly frameReceiver: Pick<SharedFrameReceiver, 'changed'>
  readonly acceptor: { readonly batch: WriteBatch }
}

/**
 * A websocket whose session is on another node. Its bytes pass unchanged in both directions, at the speed of the
 * receiver. Therefore the other node finds dead and slow clients, as if they were its own. The frames that the client
 * shares with others arrive separately (see `SharedFrames`), and are written between messages.
 */
export class ForwardedSocket implements SharedFrameReader {
  readonly node: string
  readonly number: number
  isReady = true
  readonly #receiver: ForwardedSocketDependencies['frameReceiver']
  readonly #batch: WriteBatch
  /** Shared frames that wait for the end of the tick, or of a message. */
  #shared: Buffer[] = []
  #sharedBytes = 0
  #isScheduled = false
  readonly #client: Socket
  readonly #owner: Socket
  readonly #bytes: Metrics['forwarded']['bytes']
  /** Finds the ends of the messages to the client. */
  readonly #boundaries = new FrameBoundaries()
  #isInMessage = false
  /** Why the websocket ends; null while it is open. */
  #reason: Close | null = null
  /** True if the close frame is sent. Nothing may be sent after it. */
  #isCloseSent = false
  #timer: NodeJS.Timeout | undefined

  /**
   * @param from the connection to the client, and its bytes after the request
   * @param owner id of the owner, and the number of the websocket
   */
  constructor(
    { client, head }: { readonly client: Socket; readonly head: Buffer },
    { node, number }: Pick<SharedFrameReader, 'node' | 'number'>,
    upgraded: NonNullable<NodeExchange['upgraded']>,
    { metrics: { forwarded }, frameReceiver, acceptor }: ForwardedSocketDependencies,
  ) {
    this.node = node
    this.number = number
    this.#receiver = frameReceiver
    this.#batch = acceptor.batch
    this.#client = client
    this.#owner = upgraded.socket
    this.#bytes = forwarded.bytes
    this.#pipe(head, upgraded.head)
  }

  /** Calls `fn` once when the websocket is closed. */
  onClosed(fn: () => void): void {
    this.#client.once('close', fn)
  }

  /** Closes the websocket. The other node gets the reply of the client. */
  end(reason: Close): void {
    if (this.#reason !== null) return
    this.#reason = reason
    if (this.#boundaries.hasClosed) this.#destroyAfter(closeMs)
    else if (this.#isInMessage) this.#destroyAfter(messageEndMs)
    else this.#sendClose(reason)
  }

  share(frames: Buffer): void {
    if (!this.#canShare) return
    this.#shared.push(frames)
    this.#sharedBytes += frames.length
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#batch.add(this)
  }

  /** Writes the shared frames, unless a message passes. */
  flush(): void {
    this.#isScheduled = false
    if (!this.#isInMessage) this.#writeShared()
    if (this.isReady && this.#waitingBytes > waitingBytesMax) this.#setReady(false)
  }

  /** False if a close frame is sent, or will be. */
  get #canShare(): boolean {
    return this.#reason === null && !this.#boundaries.hasClosed
  }

  get #waitingBytes(): number {
    return this.#sharedBytes + this.#client.writableLength
  }

  #setReady(isReady: boolean): void {
    this.isReady = isReady
    this.#receiver.changed(this)
  }

  #pipe(head: Buffer, ownerHead: Buffer): void {
    const [client, owner] = [this.#client, this.#owner]
    for (const socket of [client, owner]) socket.setTimeout(0).setNoDelay().on('error', ignoreError)
    owner.setKeepAlive(true, keepAliveMs)
    if (ownerHead.length > 0) this.#toClient(ownerHead)
    if (head.length > 0) this.#toOwner(head)
    owner.on('data', (bytes: Buffer) => this.#toClient(bytes))
    client.on('data', (bytes: Buffer) => this.#toOwner(bytes))
    owner.on('drain', () => client.resume())
    client.on('drain', () => {
      owner.resume()
      this.#becomeReady()
    })
    owner.on('end', () => client.end())
    client.on('end', () => owner.end())
    owner.on('close', () => client.destroy())
    client.on('close', () => {
      clearTimeout(this.#timer)
      owner.destroy()
    })
    if (client.destroyed) owner.destroy()
  }

  #toOwner(bytes: Buffer): void {
    this.#bytes.request += bytes.length
    if (!this.#owner.write(bytes)) this.#client.pause()
  }

  #toClient(bytes: Buffer): void {
    if (this.#isCloseSent) return
    this.#becomeReady()
    this.#bytes.response += bytes.length
    const end = this.#boundaries.pass(bytes)
    this.#isInMessage = end !== bytes.length
    if (end > 0 && (this.#reason !== null || this.#shared.length > 0)) {
      this.#writeToClient(bytes.subarray(0, end))
      if (this.#reason !== null) return this.#sendClose(this.#reason)
      this.#writeShared()
      if (this.#isInMessage) this.#writeToClient(bytes.subarray(end))
    } else this.#writeToClient(bytes)
  }

  #writeToClient(bytes: Buffer): void {
    if (!this.#client.write(bytes)) this.#owner.pause()
  }

  #writeShared(): void {
    const shared = this.#shared
    if (shared.length === 0) return
    this.#shared = []
    this.#sharedBytes = 0
    const [first] = shared
    if (this.#canShare)
      this.#client.write(shared.length === 1 && first !== undefined ? first : Buffer.concat(shared))
    this.#becomeReady()
  }

  #becomeReady(): void {
    if (!this.isReady && this.#waitingBytes === 0) this.#setReady(true)
  }

  #sendClose({ code, reason }: Close): void {
    this.#isCloseSent = true
    // A client waits for the end of the connection after the close frame. The other node may be frozen.
    this.#client.end(frameClose(code, reason))
    this.#owner.resume()
    this.#destroyAfter(closeMs)
  }

  #destroyAfter(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#client.destroy(), ms)
  }
}

/** Ignores an error of a connection, because a `close` event follows each error. */
const ignoreError = (): void => {}
