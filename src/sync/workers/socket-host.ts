import type { Socket } from 'node:net'
import type { WebSocketServer } from 'ws'
import { SlowTransfers } from '../../quota/slow-transfers.ts'
import { createWebsocketServer } from '../connect/websocket-upgrader.ts'
import { codeBody, type Failure, mainRecords, RecordReader, workerRecords } from './ipc-records.ts'
import { decodeOpenRecord, type WorkerSettings } from './open-record.ts'
import { RecordWriter } from './record-writer.ts'
import { WorkerSocket, type WorkerSocketDependencies } from './worker-socket.ts'

/** All connections of one worker, and the link to the main process, whose word they follow. */
export class SocketHost {
  readonly #link: Socket
  readonly #outbox: RecordWriter
  readonly #websockets: WebSocketServer
  readonly #tools: WorkerSocketDependencies
  /** Connections that are no websockets yet. */
  readonly #arrived = new Map<number, Socket>()
  readonly #served = new Map<number, WorkerSocket>()
  /** Those who have been written to in this turn. */
  #written: WorkerSocket[] = []
  /** Those who are not read because the main process is behind. */
  #held: WorkerSocket[] = []

  constructor(link: Socket, { messageBytesMax, toldBytes, transferTimeoutMs }: WorkerSettings) {
    this.#link = link
    this.#outbox = new RecordWriter(link)
    this.#websockets = createWebsocketServer(messageBytesMax)
    this.#tools = {
      outbox: this.#outbox,
      toldBytes,
      transfers: new SlowTransfers(transferTimeoutMs),
      written: (socket) => this.#settleLater(socket),
      held: (socket) => this.#releaseLater(socket),
    }
  }

  start(): void {
    const reader = new RecordReader((kind, id, body) => this.#obey(kind, id, body))
    this.#link.on('data', (chunk: Buffer) => reader.push(chunk))
    this.#outbox.add(mainRecords.ready, 0)
  }

  /** Takes over a connection; null if it was gone before it came here. */
  arrive(id: number, connection: Socket | null): void {
    if (connection === null) return this.#gone(id, 0)
    this.#arrived.set(id, connection)
    connection.on('error', () => {}).once('close', () => this.#arrived.delete(id) && this.#gone(id, 0))
  }

  #obey(kind: number, id: number, body: Buffer): void {
    switch (kind) {
      case workerRecords.open:
        return this.#open(id, body)
      case workerRecords.share:
        return this.#share(id, body)
      case workerRecords.terminate:
        this.#arrived.get(id)?.destroy()
        return this.#served.get(id)?.terminate()
      case workerRecords.beat:
        return void this.#outbox.add(mainRecords.beat, 0)
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
    const { request, head } = decodeOpenRecord(body, connection)
    this.#websockets.handleUpgrade(request, connection, head, (socket) => {
      this.#arrived.delete(id)
      socket.on('error', ({ message, code = '' }: NodeJS.ErrnoException) => {
        const failure: Failure = { code, message }
        this.#outbox.add(mainRecords.failed, id, Buffer.from(JSON.stringify(failure)))
      })
      socket.once('close', (code) => {
        this.#served.delete(id)
        this.#gone(id, code)
      })
      this.#served.set(id, new WorkerSocket(id, socket, connection, this.#tools))
      this.#outbox.add(mainRecords.opened, id)
    })
  }

  #gone(id: number, code: number): void {
    this.#outbox.add(mainRecords.closed, id, codeBody(code))
  }

  #settleLater(socket: WorkerSocket): void {
    this.#written.push(socket)
    if (this.#written.length > 1) return
    setImmediate(() => {
      const written = this.#written
      this.#written = []
      for (const each of written) each.settle()
    })
  }

  #releaseLater(socket: WorkerSocket): void {
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
function direct(socket: WorkerSocket, kind: number, body: Buffer): void {
  switch (kind) {
    case workerRecords.write:
      return socket.write(body)
    case workerRecords.close:
      return socket.close(body.readUInt16LE(), body.toString('utf8', 2))
    case workerRecords.ping:
      return socket.ping()
    case workerRecords.pause:
      return socket.hold('main')
    case workerRecords.resume:
      return socket.release('main')
    case workerRecords.drain:
      return socket.drain()
    case workerRecords.admit:
      return socket.admit()
    case workerRecords.taken:
      return socket.taken(body.readUInt32LE())
  }
}
