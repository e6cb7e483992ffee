import type { Socket } from 'node:net'
import { memoized } from '../../base/maps.ts'
import { frameRaw } from '../protocols/frame.ts'
import type { SocketListener } from './client-socket.ts'
import { SocketWriter, type WriteBatch } from './socket-writer.ts'
import type { SyncSocket } from './sync-socket.ts'

/** Path of the websocket over which a node receives shared frames. Only a node can open it. */
export const sharedFramesPath = '/sync/shared-frames'

/** Maximum bytes that wait for another node. Beyond it, the forwarded websockets carry their frames themselves. */
const waitingBytesMax = 16 * 1_048_576
/** Interval in ms of the packets that show whether the other node still exists. */
const keepAliveMs = 15_000
/** Bytes of a number in a message. */
const numberBytes = 4

/** A websocket that another node forwards. */
interface SharedFrameTarget {
  /** Takes the shared frames; null if the websocket itself must carry them. */
  sender: SharedFrameSender | null
}

/**
 * Sends frames that are equal for several websockets of another node only once to this node, which writes them to its
 * clients. Everything else goes through the forwarded websockets. A client may therefore receive a shared frame before an
 * earlier frame of its websocket, or after a later one. Updates and awareness states have an order of their own (Yjs,
 * y-protocols).
 *
 * The other node numbers its websockets, and states which of them take shared frames (`readNumbers`). It excludes a client
 * that does not read fast enough. Its websocket then carries all frames, so that the session knows what waits.
 */
export class SharedFrames {
  readonly #batch: WriteBatch
  readonly #senders = new Map<string, SharedFrameSender>()
  /** The forwarded websockets by node and number. */
  readonly #targets = new Map<string, Map<number, SharedFrameTarget>>()

  constructor(batch: WriteBatch) {
    this.#batch = batch
  }

  /** Adds a forwarded websocket. Returns a function that removes it. */
  enter(node: string, number: number, target: SharedFrameTarget): () => void {
    const targets = memoized(this.#targets, node, () => new Map<number, SharedFrameTarget>())
    targets.set(number, target)
    return () => {
      target.sender?.exclude(target)
      if (targets.get(number) !== target) return
      targets.delete(number)
      if (targets.size === 0 && this.#targets.get(node) === targets) this.#targets.delete(node)
    }
  }

  /** Sends the shared frames for a node over this websocket from now on. */
  open(node: string, socket: SyncSocket, connection: Socket): void {
    const find = (number: number) => this.#targets.get(node)?.get(number)
    const sender = new SharedFrameSender(socket, connection, this.#batch, find)
    this.#senders.get(node)?.close()
    this.#senders.set(node, sender)
    socket.on('close', () => {
      sender.excludeAll()
      if (this.#senders.get(node) === sender) this.#senders.delete(node)
    })
  }

  /** Call it when all forwarded websockets are closed. */
  close(): void {
    for (const sender of this.#senders.values()) sender.close()
  }
}

/** Sends shared frames to one other node. */
export class SharedFrameSender implements SocketListener {
  readonly #socket: SyncSocket
  readonly #writer: SocketWriter
  readonly #batch: WriteBatch
  readonly #find: (number: number) => SharedFrameTarget | undefined
  /** The websockets that take shared frames, with their numbers. */
  readonly #included = new Map<SharedFrameTarget, number>()
  /** The shared frames of this tick, and the numbers of their websockets. */
  #frames = new Map<Uint8Array, number[]>()

  /** @param find returns the forwarded websocket with a number */
  constructor(
    socket: SyncSocket,
    connection: Socket,
    batch: WriteBatch,
    find: (number: number) => SharedFrameTarget | undefined,
  ) {
    this.#socket = socket
    this.#writer = new SocketWriter(socket, connection, batch, () => {})
    this.#batch = batch
    this.#find = find
    connection.setKeepAlive(true, keepAliveMs)
    socket.listen(this, batch)
    // A node of another version may accept the websocket only to close it. This message shows that it is used.
    this.#writer.write(frameRaw(headOf([])))
  }

  /** Sends frames to a websocket. Returns false if the node does not read fast enough: then nothing is sent. */
  send(target: SharedFrameTarget, frames: Uint8Array): boolean {
    const number = this.#included.get(target)
    if (number === undefined || this.#writer.waitingBytes > waitingBytesMax) return false
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
    for (const [frames, numbers] of shared) this.#writer.write(frameRaw(headOf(numbers), frames))
  }

  message(data: Buffer): void {
    for (const [number, isReady] of readNumbers(data)) {
      const target = this.#find(number)
      if (target === undefined) continue
      if (!isReady) this.exclude(target)
      else {
        target.sender = this
        this.#included.set(target, number)
      }
    }
  }

  messageTooLarge(): void {}

  frames(): void {}

  incomplete(): void {}

  /** Lets a websocket carry its frames itself. */
  exclude(target: SharedFrameTarget): void {
    if (target.sender === this) target.sender = null
    this.#included.delete(target)
  }

  excludeAll(): void {
    for (const target of this.#included.keys()) this.exclude(target)
  }

  close(): void {
    this.#socket.terminate()
  }
}

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
