import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { unauthenticatedMessageBytesMax } from '../../quota/memory-bounds.ts'
import type { SlowTransfers } from '../../quota/slow-transfers.ts'
import { IncompleteMessage } from '../socket/incomplete-message.ts'
import { UnreadSocket } from '../socket/unread-socket.ts'
import { mainRecords, numberBody, numbersBody, unreadBytesMax } from './ipc-records.ts'
import type { RecordWriter } from './record-writer.ts'

/** What may wait for the main process in all. Beyond it no socket is read. */
const waitingBytesMax = 4_194_304

/** Who wants a socket not to be read. */
type PauseReason = 'main' | 'untaken' | 'link'

/** What all sockets of a worker have in common. */
export interface WorkerSocketDependencies {
  readonly outbox: RecordWriter
  /** What has been sent is told when it is so much, or when it is asked for. */
  readonly toldBytes: number
  readonly transfers: SlowTransfers
  /** To be settled at the end of this turn. */
  readonly written: (socket: WorkerSocket) => void
  /** The link has more than enough: `resumeAfter` when it has drained. */
  readonly held: (socket: WorkerSocket) => void
}

/** A websocket that this worker serves for the main process. Not read before the main process says so. */
export class WorkerSocket {
  readonly #id: number
  readonly #socket: WebSocket
  readonly #connection: Duplex
  readonly #tools: WorkerSocketDependencies
  readonly #holds = new Set<PauseReason>()
  #untakenBytes = 0
  readonly #incomplete: IncompleteMessage
  #unread: UnreadSocket | null = null
  #turn: 'quiet' | 'written' = 'quiet'
  /** Written, and not told to have been sent. */
  #untoldBytes = 0
  #watch: 'idle' | 'waiting' = 'idle'

  constructor(id: number, socket: WebSocket, connection: Duplex, tools: WorkerSocketDependencies) {
    this.#id = id
    this.#socket = socket
    this.#connection = connection
    this.#tools = tools
    this.hold('main')
    const changed = (...bytes: [number, number]): void =>
      this.#say(mainRecords.incomplete, numbersBody(...bytes))
    this.#incomplete = new IncompleteMessage(socket, connection, tools.transfers, changed)
    this.#incomplete.bytesMax = unauthenticatedMessageBytesMax
    socket.on('message', (data: Buffer, isBinary) =>
      this.#message(isBinary ? mainRecords.binary : mainRecords.text, data),
    )
    socket.on('ping', (data) => this.#say(mainRecords.ping, numberBody(data.length)))
    socket.on('pong', (data) => this.#say(mainRecords.pong, numberBody(data.length)))
  }

  /** @param frames a view on what was read of the link: what cannot be sent in this turn is copied */
  write(frames: Buffer): void {
    this.#untoldBytes += frames.length
    if (this.#socket.readyState !== this.#socket.OPEN) return
    const isSlow = this.#watch === 'waiting'
    if (this.#turn === 'quiet') {
      this.#turn = 'written'
      this.#connection.cork()
      this.#tools.written(this)
    }
    // A view would keep all that was read with it for as long as this client takes.
    this.#connection.write(isSlow ? Buffer.from(frames) : frames)
  }

  /** The end of a turn in which something was written. */
  settle(): void {
    this.#turn = 'quiet'
    this.#connection.uncork()
    if (this.#connection.writableLength > 0) this.#behind()
    this.#tell(this.#tools.toldBytes)
  }

  /** Tells what has been sent when nothing waits any more. */
  drain(): void {
    this.#connection.write('', (error) => {
      if (error == null) this.#tell(0)
    })
  }

  /** The main process has looked at so many bytes of messages. */
  taken(bytes: number): void {
    this.#untakenBytes -= bytes
    if (this.#untakenBytes <= unreadBytesMax.bytesMax / 2) this.release('untaken')
  }

  hold(by: PauseReason): void {
    this.#holds.add(by)
    this.#socket.pause()
  }

  release(by: PauseReason): void {
    if (this.#holds.delete(by) && this.#holds.size === 0) this.#socket.resume()
  }

  /** The client is authenticated: its messages may be larger. */
  admit(): void {
    this.#incomplete.bytesMax = null
  }

  ping(): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping()
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason)
  }

  terminate(): void {
    this.#socket.terminate()
  }

  #message(kind: number, data: Buffer): void {
    this.#say(kind, data)
    this.#untakenBytes += data.length + unreadBytesMax.messageBytes
    if (this.#untakenBytes > unreadBytesMax.bytesMax) this.hold('untaken')
    if (this.#tools.outbox.waitingBytes <= waitingBytesMax || this.#holds.has('link')) return
    this.hold('link')
    this.#tools.held(this)
  }

  #say(kind: number, body: Buffer): void {
    this.#tools.outbox.add(kind, this.#id, body)
  }

  /** Tells what has been sent if it is at least so much; while something waits it is looked at again. */
  #tell(bytesMin: number): void {
    const waitingBytes = Math.min(this.#connection.writableLength, this.#untoldBytes)
    const sentBytes = this.#untoldBytes - waitingBytes
    if (sentBytes >= bytesMin) {
      this.#untoldBytes = waitingBytes
      this.#say(mainRecords.sent, numberBody(sentBytes))
    }
    if (waitingBytes > 0 && this.#watch === 'idle') this.#lookAgain()
  }

  #behind(): void {
    this.#unread ??= new UnreadSocket(this.#socket, this.#connection, this.#tools.transfers, null)
    this.#unread.wrote([])
  }

  #lookAgain(): void {
    this.#watch = 'waiting'
    this.#connection.write('', (error) => {
      this.#watch = 'idle'
      if (error == null) this.#tell(this.#tools.toldBytes)
    })
  }
}
