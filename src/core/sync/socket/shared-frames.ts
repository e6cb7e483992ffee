import { close } from '../../model/close.ts'
import { frameRaw } from '../protocols/frame.ts'
import type { ClientSocket, SocketListener } from './client-socket.ts'
import type { WriteBatch } from './socket-writer.ts'

/** Path of the websocket over which a node receives shared frames. Only a node can open it. */
export const sharedFramesPath = '/sync/shared-frames'

/** Bytes of a number in a message. */
const numberBytes = 4

/** A websocket that another node forwards. */
interface ForwardedWebsocket {
  /** Takes shared frames; null if the websocket itself must carry them. */
  link: SharedFrameLink | null
}

/**
 * Sends frames that are equal for several websockets of another node only once to this node, which writes them to its
 * clients. Everything else goes through the forwarded websockets. A client may therefore receive a shared frame before an
 * earlier frame of its websocket, or after a later one: the order of updates has no effect in Yjs, and awareness states have
 * clocks.
 *
 * The other node numbers its websockets, and states which of them take shared frames (`readNumbers`). It excludes a client
 * that does not read fast enough. Its websocket then carries all frames, so that the session knows what waits.
 */
export class SharedFrames {
  readonly #batch: WriteBatch
  readonly #links = new Map<string, SharedFrameLink>()
  /** The forwarded websockets by node and number. */
  readonly #websockets = new Map<string, Map<number, ForwardedWebsocket>>()

  constructor(batch: WriteBatch) {
    this.#batch = batch
  }

  /** Adds a forwarded websocket. Returns a function that removes it. */
  enter(node: string, number: number, websocket: ForwardedWebsocket): () => void {
    const websockets = this.#websockets.get(node) ?? new Map<number, ForwardedWebsocket>()
    this.#websockets.set(node, websockets.set(number, websocket))
    return () => {
      websocket.link?.delete(websocket)
      if (websockets.get(number) !== websocket) return
      websockets.delete(number)
      if (websockets.size === 0 && this.#websockets.get(node) === websockets) this.#websockets.delete(node)
    }
  }

  /** Sends the shared frames for a node over `socket` from now on. */
  open(node: string, socket: ClientSocket): void {
    const link = new SharedFrameLink(socket, this.#batch, (number) => this.#websockets.get(node)?.get(number))
    this.#links.get(node)?.close()
    this.#links.set(node, link)
    socket.onClosed(() => {
      link.end()
      if (this.#links.get(node) === link) this.#links.delete(node)
    })
  }

  /** Closes all links. Call it when all forwarded websockets are closed. */
  close(): void {
    for (const link of this.#links.values()) link.close()
  }
}

/** The websocket over which another node receives shared frames. */
export class SharedFrameLink implements SocketListener {
  readonly #socket: ClientSocket
  readonly #batch: WriteBatch
  readonly #find: (number: number) => ForwardedWebsocket | undefined
  /** The websockets that take shared frames, with their numbers. */
  readonly #websockets = new Map<ForwardedWebsocket, number>()
  /** The shared frames of this tick, and the numbers of their websockets. */
  #frames = new Map<Uint8Array, number[]>()

  /** @param find returns the forwarded websocket with a number */
  constructor(
    socket: ClientSocket,
    batch: WriteBatch,
    find: (number: number) => ForwardedWebsocket | undefined,
  ) {
    this.#socket = socket
    this.#batch = batch
    this.#find = find
    socket.listen(this)
  }

  /** Sends frames to a websocket. Returns false if the node does not read fast enough: then nothing is sent. */
  send(websocket: ForwardedWebsocket, frames: Uint8Array): boolean {
    const number = this.#websockets.get(websocket)
    if (number === undefined || this.#socket.isFull) return false
    const numbers = this.#frames.get(frames)
    if (numbers !== undefined) numbers.push(number)
    else {
      if (this.#frames.size === 0) this.#batch.add(this)
      this.#frames.set(frames, [number])
    }
    return true
  }

  flush(): void {
    const shared = this.#frames
    this.#frames = new Map()
    for (const [frames, numbers] of shared) this.#socket.write(frameRaw(headOf(numbers), frames))
  }

  message(data: Buffer): void {
    for (const [number, isReady] of readNumbers(data)) {
      const websocket = this.#find(number)
      if (websocket === undefined) continue
      if (!isReady) this.delete(websocket)
      else {
        websocket.link = this
        this.#websockets.set(websocket, number)
      }
    }
  }

  messageTooLarge(): void {}

  frames(): void {}

  incomplete(): void {}

  delete(websocket: ForwardedWebsocket): void {
    websocket.link = null
    this.#websockets.delete(websocket)
  }

  close(): void {
    this.#socket.close(closed.code, closed.reason)
  }

  /** Lets the websockets carry their frames themselves. */
  end(): void {
    for (const websocket of this.#websockets.keys()) this.delete(websocket)
  }
}

const closed = close('serviceRestart', 'the node stops')

/** Encodes which websockets take shared frames: each number, negative if the websocket takes none. */
export function writeNumbers(isReady: ReadonlyMap<number, boolean>): Buffer {
  const bytes = Buffer.allocUnsafe(isReady.size * numberBytes)
  let at = 0
  for (const [number, ready] of isReady) at = bytes.writeInt32LE(ready ? number : -number, at)
  return bytes
}

function* readNumbers(bytes: Buffer): Iterable<[number: number, isReady: boolean]> {
  for (let at = 0; at + numberBytes <= bytes.length; at += numberBytes) {
    const signed = bytes.readInt32LE(at)
    yield [Math.abs(signed), signed > 0]
  }
}

/** Returns the start of a message with shared frames: how many websockets get them, and their numbers. */
function headOf(numbers: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe((numbers.length + 1) * numberBytes)
  let at = bytes.writeUInt32LE(numbers.length)
  for (const number of numbers) at = bytes.writeUInt32LE(number, at)
  return bytes
}

/** Calls `send` with the frames of a message, and with the number of each websocket that gets them. */
export function readShared(message: Buffer, send: (number: number, frames: Buffer) => void): void {
  const end = (message.readUInt32LE(0) + 1) * numberBytes
  const frames = message.subarray(end)
  for (let at = numberBytes; at < end; at += numberBytes) send(message.readUInt32LE(at), frames)
}
