import type { Socket } from 'node:net'
import type { WebSocketServer } from 'ws'
import { websockets } from '../websockets.ts'
import { decodeOpening, type WorkerSettings } from './opening.ts'
import { Outbox } from './outbox.ts'
import { codeBody, type Failure, RecordReader, toMain, toWorker } from './records.ts'
import { ServedSocket, type ServedTools } from './served-socket.ts'

/** All connections of one worker, and the link to the main process, whose word they follow. */
export class SocketHost {
  readonly #link: Socket
  readonly #outbox: Outbox
  readonly #websockets: WebSocketServer
  readonly #tools: ServedTools
  /** Connections that are no websockets yet. */
  readonly #arrived = new Map<number, Socket>()
  readonly #served = new Map<number, ServedSocket>()
  /** Those who have been written to in this turn. */
  #written: ServedSocket[] = []
  /** Those who are not read because the main process is behind. */
  #held: ServedSocket[] = []

  constructor(link: Socket, { messageBytesMax, toldBytes }: WorkerSettings) {
    this.#link = link
    this.#outbox = new Outbox(link)
    this.#websockets = websockets(messageBytesMax)
    this.#tools = {
      outbox: this.#outbox,
      toldBytes,
      written: (socket) => this.#settleLater(socket),
      held: (socket) => this.#releaseLater(socket),
    }
  }

  start(): void {
    const reader = new RecordReader((kind, id, body) => this.#obey(kind, id, body))
    this.#link.on('data', (chunk: Buffer) => reader.push(chunk))
    this.#outbox.add(toMain.ready, 0)
  }

  /** Takes over a connection; null if it was gone before it came here. */
  arrive(id: number, connection: Socket | null): void {
    if (connection === null) return this.#gone(id, 0)
    this.#arrived.set(id, connection)
    connection.on('error', () => {}).once('close', () => this.#arrived.delete(id) && this.#gone(id, 0))
  }

  #obey(kind: number, id: number, body: Buffer): void {
    switch (kind) {
      case toWorker.open:
        return this.#open(id, body)
      case toWorker.share:
        return this.#share(id, body)
      case toWorker.terminate:
        this.#arrived.get(id)?.destroy()
        return this.#served.get(id)?.terminate()
      case toWorker.beat:
        return void this.#outbox.add(toMain.beat, 0)
      default: {
        const socket = this.#served.get(id)
        if (socket !== undefined) direct(socket, kind, body)
      }
    }
  }

  #share(count: number, body: Buffer): void {
    const frames = body.subarray(count * 4)
    for (let at = 0; at < count * 4; at += 4) this.#served.get(body.readUInt32LE(at))?.write(frames)
  }

  #open(id: number, body: Buffer): void {
    const connection = this.#arrived.get(id)
    if (connection === undefined) return
    const { request, head } = decodeOpening(body, connection)
    this.#websockets.handleUpgrade(request, connection, head, (socket) => {
      this.#arrived.delete(id)
      socket.on('error', ({ message, code = '' }: NodeJS.ErrnoException) => {
        const failure: Failure = { code, message }
        this.#outbox.add(toMain.failed, id, Buffer.from(JSON.stringify(failure)))
      })
      socket.once('close', (code) => {
        this.#served.delete(id)
        this.#gone(id, code)
      })
      this.#served.set(id, new ServedSocket(id, socket, connection, this.#tools))
      this.#outbox.add(toMain.opened, id)
    })
  }

  #gone(id: number, code: number): void {
    this.#outbox.add(toMain.closed, id, codeBody(code))
  }

  #settleLater(socket: ServedSocket): void {
    this.#written.push(socket)
    if (this.#written.length > 1) return
    setImmediate(() => {
      const written = this.#written
      this.#written = []
      for (const each of written) each.settle()
    })
  }

  #releaseLater(socket: ServedSocket): void {
    this.#held.push(socket)
    if (this.#held.length > 1) return
    this.#outbox.whenDrained(() => {
      const held = this.#held
      this.#held = []
      for (const each of held) each.release('link')
    })
  }
}

/** What the main process says to one socket. */
function direct(socket: ServedSocket, kind: number, body: Buffer): void {
  switch (kind) {
    case toWorker.write:
      return socket.write(body)
    case toWorker.close:
      return socket.close(body.readUInt16LE(), body.toString('utf8', 2))
    case toWorker.ping:
      return socket.ping()
    case toWorker.pause:
      return socket.hold('main')
    case toWorker.resume:
      return socket.release('main')
    case toWorker.drain:
      return socket.drain()
    case toWorker.bound:
      return socket.bound(body.readUInt32LE())
    case toWorker.taken:
      return socket.taken(body.readUInt32LE())
  }
}
