import { WebSocket } from 'ws'
import type { Forwarder } from '../../forwarding/forwarder.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import { type Close, close } from '../../model/close.ts'
import type { Key } from '../../store/engine.ts'
import { keyName } from '../../store/key-encoding.ts'
import { readShared, sharedFramesPath, writeNumbers } from './shared-frames.ts'

/** Minimum number of websockets for one document at this node, from which on they take shared frames. */
const websocketsMin = 4
/** Maximum time in ms until the other node has accepted the websocket. */
const openMs = 5_000
/** Interval in ms of the packets that show whether the other node still exists. */
const keepAliveMs = 15_000

/** A websocket that this node forwards. */
export interface ForwardedWebsocket {
  /** Id of the node that owns its documents. */
  readonly node: string
  /** Number of the websocket at this node, from `SharedFrameReceiver.nextNumber`. */
  readonly number: number
  /** Writes shared frames to the client. */
  share(frames: Buffer): void
  end(reason: Close): void
}

interface Dependencies {
  readonly forwarder: Forwarder
  readonly metrics: Pick<Metrics, 'forwarded'>
}

/** Receives the shared frames of other nodes, and gives them to the forwarded websockets (see `SharedFrames`). */
export class SharedFrameReceiver {
  readonly #dependencies: Dependencies
  readonly #documents = new Map<string, Set<ForwardedWebsocket>>()
  readonly #links = new Map<string, NodeLink>()
  #lastNumber = 0

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** Returns the number of a new forwarded websocket. */
  nextNumber(): number {
    this.#lastNumber += 1
    return this.#lastNumber
  }

  /** Adds a document of a websocket. Returns a function that removes it. */
  enter(document: Key, websocket: ForwardedWebsocket): () => void {
    const key = keyName(document)
    const websockets = this.#documents.get(key) ?? new Set<ForwardedWebsocket>()
    this.#documents.set(key, websockets.add(websocket))
    if (websockets.size >= websocketsMin)
      for (const each of websockets.size === websocketsMin ? websockets : [websocket]) this.#begin(each)
    return () => {
      websockets.delete(websocket)
      if (websockets.size === 0 && this.#documents.get(key) === websockets) this.#documents.delete(key)
    }
  }

  /** Removes a websocket that is closed. */
  delete(websocket: ForwardedWebsocket): void {
    this.#links.get(websocket.node)?.delete(websocket)
  }

  /** States whether the client of a websocket reads fast enough. */
  setReady(websocket: ForwardedWebsocket, isReady: boolean): void {
    this.#links.get(websocket.node)?.set(websocket, isReady)
  }

  close(): void {
    for (const link of this.#links.values()) link.close()
  }

  #begin(websocket: ForwardedWebsocket): void {
    const { node } = websocket
    const link = this.#links.get(node) ?? this.#open(node)
    link?.add(websocket)
  }

  #open(node: string): NodeLink | null {
    const { forwarder, metrics } = this.#dependencies
    const handshake = forwarder.handshake(node, sharedFramesPath, { clientAddress: '', websocket: null })
    if (handshake === null) return null
    const link = new NodeLink(new WebSocket(handshake.url, optionsFor(handshake.headers)), metrics, () => {
      unwatch()
      if (this.#links.get(node) === link) this.#links.delete(node)
    })
    this.#links.set(node, link)
    const unwatch = forwarder.departures.watch(node, () => link.close())
    return link
  }
}

const optionsFor = (headers: Readonly<Record<string, string>>) => ({
  headers,
  perMessageDeflate: false,
  handshakeTimeout: openMs,
  // The other node has limited the messages, and a document may be larger than the limit for clients.
  maxPayload: 0,
})

/** The websocket over which this node receives the shared frames of one other node. */
class NodeLink {
  readonly #socket: WebSocket
  readonly #websockets = new Map<number, ForwardedWebsocket>()
  /** Statements that wait to be sent together: numbers of websockets, and whether they take shared frames. */
  #statements = new Map<number, boolean>()

  /** @param onClosed called once when the link is closed */
  constructor(socket: WebSocket, { forwarded }: Pick<Metrics, 'forwarded'>, onClosed: () => void) {
    this.#socket = socket
    let hasOpened = false
    socket.on('upgrade', (response) => response.socket.setKeepAlive(true, keepAliveMs))
    socket.on('open', () => {
      hasOpened = true
      forwarded.requests.frames += 1
      this.#send()
    })
    socket.on('message', (data: Buffer) => {
      forwarded.bytes.response += data.length
      readShared(data, (number, frames) => this.#websockets.get(number)?.share(frames))
    })
    // A `close` event follows each error.
    socket.on('error', () => {})
    socket.on('close', () => {
      onClosed()
      // The clients lack the frames that were on their way.
      if (hasOpened) for (const websocket of this.#websockets.values()) websocket.end(linkLost)
    })
  }

  add(websocket: ForwardedWebsocket): void {
    this.#websockets.set(websocket.number, websocket)
    this.#state(websocket, true)
  }

  set(websocket: ForwardedWebsocket, isReady: boolean): void {
    if (this.#websockets.has(websocket.number)) this.#state(websocket, isReady)
  }

  delete({ number }: ForwardedWebsocket): void {
    this.#websockets.delete(number)
    this.#statements.delete(number)
  }

  close(): void {
    this.#socket.terminate()
  }

  #state({ number }: ForwardedWebsocket, isReady: boolean): void {
    if (this.#statements.size === 0) process.nextTick(() => this.#send())
    this.#statements.set(number, isReady)
  }

  #send(): void {
    if (this.#socket.readyState !== WebSocket.OPEN || this.#statements.size === 0) return
    this.#socket.send(writeNumbers(this.#statements))
    this.#statements = new Map()
  }
}

const linkLost = close('serviceRestart', 'the connection to the node of the document is lost; reconnect')
