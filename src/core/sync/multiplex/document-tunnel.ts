import { WebSocket } from 'ws'
import type { NodeHandshake } from '../../forwarding/forwarder.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import { type Close, close, closeCodes } from '../../model/close.ts'
import { type BudgetedReader, newTickBudget } from '../../quota/tick-shares.ts'
import { frameRaw } from '../protocols/frame.ts'
import { closeMessage, encodeName, readDenied } from '../protocols/hocuspocus.ts'
import type { SocketListener } from '../socket/client-socket.ts'
import type { ReadBackpressure } from '../socket/read-backpressure.ts'
import type { DocumentChannel } from './document-channel.ts'
import type { MultiplexedSocket } from './multiplexed-socket.ts'

/** Maximum bytes of messages that wait for the other node. Beyond it, the client is not read. */
const waitingBytesMax = 1_048_576
/** Maximum time in ms until the other node has accepted the websocket. */
const openMs = 5_000

interface TunnelOptions {
  readonly handshake: NodeHandshake
  readonly client: MultiplexedSocket
  readonly workspaceId: string
  readonly backpressure: ReadBackpressure
  readonly metrics: Pick<Metrics, 'forwarded'>
}

/**
 * A websocket to the node that owns some documents of a multiplexed connection. Their messages pass unchanged in both
 * directions; only the document names are read.
 */
export class DocumentTunnel implements BudgetedReader {
  readonly budget = newTickBudget()
  readonly workspaceId: string
  readonly #options: TunnelOptions
  readonly #socket: WebSocket
  readonly #channels = new Map<string, DocumentChannel>()
  readonly #opened: Promise<void>
  readonly #forwarded: Metrics['forwarded']
  /** Stands for the messages that wait for the other node, as the reason for which the client is not read. */
  readonly #waiting = {}
  #isFull = false
  /** The content of the last ping of the other node that the client has not answered; null if there is none. */
  #ping: Buffer | null = null

  /** @param onClosed called once when the tunnel is closed */
  constructor(options: TunnelOptions, onClosed: () => void) {
    const { handshake, workspaceId, metrics } = options
    this.#options = options
    this.workspaceId = workspaceId
    this.#forwarded = metrics.forwarded
    this.#socket = new WebSocket(handshake.url, {
      headers: handshake.headers,
      perMessageDeflate: false,
      autoPong: false,
      handshakeTimeout: openMs,
      // The other node has limited the messages, and a document may be larger than the limit for clients.
      maxPayload: 0,
    })
    this.#opened = this.#listen(onClosed)
    this.#opened.catch(() => {})
  }

  /**
   * Passes the messages of a channel from now on.
   * @param opening the message with which the client has opened the document
   * @throws Error if the node does not accept the tunnel
   */
  async carry(channel: DocumentChannel, opening: Buffer): Promise<void> {
    await this.#opened
    if (!channel.isOpen) return
    this.#channels.set(channel.name, channel)
    const name = encodeName(channel.name)
    channel.listen(this.#listenerOf(channel, name))
    channel.onClosed(() => this.#left(channel, name))
    this.#send(name, opening)
    channel.resume()
  }

  /** Closes the tunnel, because the client is gone. */
  close(): void {
    this.#channels.clear()
    this.#socket.close()
  }

  /** Ends the tunnel and its client, because the node has died. TCP may not notice it for minutes. */
  terminate(): void {
    this.#socket.terminate()
  }

  pauseReading(): void {
    this.#options.client.pauseFor(this)
  }

  resumeReading(): void {
    this.#options.client.resumeFor(this)
  }

  #listen(onClosed: () => void): Promise<void> {
    const socket = this.#socket
    return new Promise((resolve, reject) => {
      socket.on('open', () => {
        this.#forwarded.requests.tunnel += 1
        resolve()
      })
      socket.on('message', (data: Buffer) => this.#received(data))
      socket.on('ping', (data) => {
        this.#ping = data
        this.#options.client.requestPong()
      })
      socket.on('error', reject)
      socket.on('close', (code, reason) => {
        reject(new Error('the tunnel is closed'))
        onClosed()
        this.#closed(code, reason.toString())
      })
    })
  }

  #listenerOf(channel: DocumentChannel, name: Uint8Array): SocketListener {
    const { backpressure } = this.#options
    return {
      message: (data) => {
        this.#send(name, data)
        backpressure.check(this)
      },
      messageTooLarge: () => channel.close(closeCodes.tooLarge, 'the message is too large'),
      frames: () => this.#alive(),
      incomplete: () => {},
    }
  }

  #send(name: Uint8Array, message: Uint8Array): void {
    const socket = this.#socket
    if (socket.readyState !== WebSocket.OPEN) return
    const data = Buffer.concat([name, message])
    this.#forwarded.bytes.request += data.length
    socket.send(data, () => this.#sent())
    if (this.#isFull || socket.bufferedAmount <= waitingBytesMax) return
    this.#isFull = true
    this.#options.client.pauseFor(this.#waiting)
  }

  #sent(): void {
    if (!this.#isFull || this.#socket.bufferedAmount > waitingBytesMax / 2) return
    this.#isFull = false
    this.#options.client.resumeFor(this.#waiting)
  }

  /** Passes a message of the other node to the client, at the speed of the client. */
  #received(data: Buffer): void {
    const { socket } = this.#options.client
    this.#forwarded.bytes.response += data.length
    socket.write(frameRaw(data))
    const denied = readDenied(data)
    if (denied !== null) this.#end(denied)
    if (!socket.isFull || this.#socket.isPaused) return
    this.#socket.pause()
    socket.whenDrained(() => this.#socket.resume())
  }

  /** Ends a document that the other node has ended. The client has got the message. */
  #end(name: string): void {
    const channel = this.#channels.get(name)
    this.#channels.delete(name)
    channel?.closeChannel()
  }

  /** Closes a document at the other node, which closes the tunnel if it stays without documents. */
  #left(channel: DocumentChannel, name: Uint8Array): void {
    if (this.#channels.get(channel.name) !== channel) return
    this.#channels.delete(channel.name)
    this.#send(name, closeMessage)
  }

  /** Reports to the other node that the client has answered its ping. */
  #alive(): void {
    const ping = this.#ping
    this.#ping = null
    if (ping !== null && this.#socket.readyState === WebSocket.OPEN) this.#socket.pong(ping)
  }

  #closed(code: number, reason: string): void {
    const { client, backpressure } = this.#options
    backpressure.forget(this)
    for (const pause of [this, this.#waiting]) client.resumeFor(pause)
    if (this.#channels.size === 0) return
    this.#channels.clear()
    client.end(closeOf(code, reason))
  }
}

/** Returns the close of a client whose tunnel is closed. Without a code of the other node, the client reconnects. */
function closeOf(code: number, reason: string): Close {
  const known = Object.values(closeCodes).find((each) => each === code)
  return known === undefined ? tunnelLost : { code: known, reason, limit: null }
}

const tunnelLost = close('serviceRestart', 'the connection to the node of the document is lost; reconnect')
