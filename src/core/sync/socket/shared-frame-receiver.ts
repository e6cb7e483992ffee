import { WebSocket } from 'ws'
import { memoized } from '../../base/maps.ts'
import type { Forwarder } from '../../forwarding/forwarder.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import { type Close, close } from '../../model/close.ts'
import { readShared, sharedFramesPath, writeNumbers } from './shared-frames.ts'

/** Minimum number of websockets for one editor at this node, from which on they take shared frames. */
const readersMin = 4
/** Maximum time in ms until the other node has accepted the websocket. */
const openMs = 5_000
/** Minimum time in ms between two attempts to receive shared frames from a node that does not send any. */
const retryMs = 10_000
/** Interval in ms of the packets that show whether the other node still exists. */
const keepAliveMs = 15_000
const numberMax = 0x7f_ff_ff_ff

/** A websocket that this node forwards. */
export interface SharedFrameReader {
  /** Id of the node that owns its document. */
  readonly node: string
  /** Number of the websocket at this node, from `SharedFrameReceiver.nextNumber`. */
  readonly number: number
  /** False while the client does not read shared frames fast enough. */
  readonly isReady: boolean
  /** Writes shared frames to the client. */
  share(frames: Buffer): void
  end(reason: Close): void
}

/** Receives the shared frames of other nodes, and gives them to the forwarded websockets (see `SharedFrames`). */
export class SharedFrameReceiver {
  readonly #forwarder: Pick<Forwarder, 'handshake' | 'departures'>
  readonly #metrics: Pick<Metrics, 'forwarded'>
  /** The websockets by editor. */
  readonly #editors = new Map<string, Set<SharedFrameReader>>()
  readonly #sources = new Map<string, SharedFrameSource>()
  #lastNumber = 0

  constructor(forwarder: Pick<Forwarder, 'handshake' | 'departures'>, metrics: Pick<Metrics, 'forwarded'>) {
    this.#forwarder = forwarder
    this.#metrics = metrics
  }

  /** Returns the number of a new forwarded websocket. */
  nextNumber(): number {
    this.#lastNumber = (this.#lastNumber % numberMax) + 1
    return this.#lastNumber
  }

  /** Adds a websocket. Returns a function that removes it. @param editor name of its editor */
  enter(editor: string, reader: SharedFrameReader): () => void {
    const readers = memoized(this.#editors, editor, () => new Set<SharedFrameReader>()).add(reader)
    if (readers.size === readersMin) for (const each of readers) this.#include(each)
    else if (readers.size > readersMin) this.#include(reader)
    return () => {
      readers.delete(reader)
      this.#sources.get(reader.node)?.delete(reader)
      if (readers.size === 0 && this.#editors.get(editor) === readers) this.#editors.delete(editor)
    }
  }

  /** Must be called when `isReady` of a websocket has changed. */
  changed(reader: SharedFrameReader): void {
    this.#sources.get(reader.node)?.changed(reader)
  }

  close(): void {
    for (const source of this.#sources.values()) source.close()
  }

  #include(reader: SharedFrameReader): void {
    const source = this.#sources.get(reader.node) ?? this.#open(reader.node)
    source?.add(reader)
  }

  #open(node: string): SharedFrameSource | null {
    const handshake = this.#forwarder.handshake(node, sharedFramesPath, '')
    if (handshake === null) return null
    const { url, headers } = handshake
    const socket = new WebSocket(url, {
      headers,
      perMessageDeflate: false,
      handshakeTimeout: openMs,
      // The other node has limited the messages, and a document may be larger than the limit for clients.
      maxPayload: 0,
    })
    const forget = (): void => void this.#sources.delete(node)
    const source = new SharedFrameSource(socket, this.#metrics, (isRefused) => {
      unwatch()
      if (isRefused) setTimeout(forget, retryMs).unref()
      else forget()
    })
    this.#sources.set(node, source)
    const unwatch = this.#forwarder.departures.watch(node, () => source.close())
    return source
  }
}

/** The websocket over which this node receives the shared frames of one other node. */
class SharedFrameSource {
  readonly #socket: WebSocket
  readonly #readers = new Map<number, SharedFrameReader>()
  /** What the other node must learn: numbers of websockets, and whether they take shared frames. */
  #statements = new Map<number, boolean>()
  /** True when the other node has sent its first message. */
  #isUsed = false

  /** @param onClosed called once, with whether the other node has refused to send shared frames */
  constructor(
    socket: WebSocket,
    { forwarded }: Pick<Metrics, 'forwarded'>,
    onClosed: (isRefused: boolean) => void,
  ) {
    this.#socket = socket
    socket.on('upgrade', (response) => response.socket.setKeepAlive(true, keepAliveMs))
    socket.on('message', (data: Buffer) => {
      if (!this.#isUsed) {
        this.#isUsed = true
        forwarded.requests.frames += 1
        this.#send()
      }
      forwarded.bytes.response += data.length
      readShared(data, (number, frames) => this.#readers.get(number)?.share(frames))
    })
    // A `close` event follows each error.
    socket.on('error', () => {})
    socket.on('close', () => {
      onClosed(!this.#isUsed)
      // The clients lack the frames that were on their way.
      if (this.#isUsed) for (const reader of this.#readers.values()) reader.end(framesLost)
    })
  }

  add(reader: SharedFrameReader): void {
    if (this.#readers.has(reader.number)) return
    this.#readers.set(reader.number, reader)
    this.changed(reader)
  }

  changed({ number, isReady }: SharedFrameReader): void {
    if (!this.#readers.has(number)) return
    if (this.#statements.size === 0) process.nextTick(() => this.#send())
    this.#statements.set(number, isReady)
  }

  delete({ number }: SharedFrameReader): void {
    this.#readers.delete(number)
    this.#statements.delete(number)
  }

  close(): void {
    this.#socket.terminate()
  }

  #send(): void {
    if (!this.#isUsed || this.#statements.size === 0 || this.#socket.readyState !== WebSocket.OPEN) return
    this.#socket.send(writeNumbers(this.#statements))
    this.#statements = new Map()
  }
}

const framesLost = close('serviceRestart', 'the connection to the node of the document is lost; reconnect')
