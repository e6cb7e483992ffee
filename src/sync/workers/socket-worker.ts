import { type ChildProcess, fork } from 'node:child_process'
import { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { packageFile } from '../../config/package-file.ts'
import type { CloseReporter } from '../socket/close-reporter.ts'
import type { SocketHolders } from '../socket/socket-memory.ts'
import type { LargeFrameTracker } from '../socket/unread-frames.ts'
import { type Failure, mainRecords, RecordReader, workerRecords } from './ipc-records.ts'
import type { WorkerSettings } from './open-record.ts'
import { type Handoff, PendingHandoffs } from './pending-handoffs.ts'
import { RecordWriter } from './record-writer.ts'
import { RemoteSocket } from './remote-socket.ts'

export interface SocketWorkerOptions {
  readonly settings: WorkerSettings
  readonly sendBufferBytesMax: number
  readonly memory: SocketHolders
  readonly largeFrames: LargeFrameTracker
  readonly endings: CloseReporter
}

/** How a worker has ended. */
export interface WorkerEnd {
  readonly pid: number | undefined
  readonly code: number | null
  readonly signal: string | null
  /** Connections that ended with it. */
  readonly connections: number
  /** It did not answer any more. */
  readonly hung: boolean
}

const programPath = fileURLToPath(packageFile('dist/sync/workers/worker-main.js'))
/** Where the worker finds the link; the channel over which connections are handed is beside it. */
const linkFile = 3
const beatMs = 1_000
/** A worker that has not answered so many heartbeats is ended. */
const unansweredMax = 10
/** How long a worker that was told to end may take, in ms. */
const endingMsMax = 250

/** One process that serves websockets for this one. */
export class SocketWorker {
  /** Resolves when it can take connections; rejects if it ends before. */
  readonly ready: Promise<void>
  readonly ended: Promise<WorkerEnd>
  readonly #parts: SocketWorkerOptions
  readonly #child: ChildProcess
  readonly #link: Socket
  readonly #outbox: RecordWriter
  readonly #arrivals = new PendingHandoffs()
  readonly #sockets = new Map<number, { readonly socket: RemoteSocket; readonly arrival: Handoff }>()
  #nextId = 1
  #unanswered = 0
  #becomesReady: () => void = () => {}

  constructor(parts: SocketWorkerOptions) {
    this.#parts = parts
    this.#child = startProcess(parts.settings)
    this.#link = linkOf(this.#child)
    this.#outbox = new RecordWriter(this.#link)
    const reader = new RecordReader((kind, id, body) => this.#receive(kind, id, body))
    this.#link.on('data', (chunk: Buffer) => reader.push(chunk)).on('error', () => {})
    this.#child.on('message', (message) => this.#arrived((message as { id: number }).id))
    const beating = setInterval(() => this.#beat(), beatMs).unref()
    this.ended = new Promise((resolve) => {
      const end = (code: number | null, signal: string | null): void => {
        clearInterval(beating)
        resolve(this.#end(code, signal))
      }
      this.#child.once('exit', end).on('error', () => {
        if (this.#child.pid === undefined) end(null, null)
        else this.#child.kill('SIGKILL')
      })
    })
    const early = this.ended.then(({ code, signal }) => {
      throw new Error(`a socket worker ended at its start (${signal ?? code})`)
    })
    this.ready = Promise.race([new Promise<void>((resolve) => (this.#becomesReady = resolve)), early])
    this.ready.catch(() => {})
  }

  /** Connections that it has, or will have in a moment. */
  get size(): number {
    return this.#sockets.size + this.#arrivals.size
  }

  /** Hands a connection over, with all that belongs to it. When it ends, `connection` is closed here, too. */
  take(arrival: Handoff): void {
    const id = this.#nextId++
    const { connection } = arrival
    this.#arrivals.add(id, arrival)
    connection.once('close', () => this.#sockets.has(id) && this.#outbox.add(workerRecords.terminate, id))
    // With it Node would count the connection as ended here and ask the worker about it when the server closes.
    Object.assign(connection, { server: null })
    this.#child.send({ id }, connection, (error) => {
      if (error !== null) connection.destroy()
    })
  }

  /** Ends it, with all its connections. */
  async end(): Promise<void> {
    this.#outbox.flush()
    this.#link.end()
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), endingMsMax)
    await this.ended
    clearTimeout(timer)
  }

  /** The worker has the connection, and we have it no more: only now may the client be answered, for it would answer us. */
  #arrived(id: number): void {
    const opening = this.#arrivals.opening(id)
    if (opening === null) this.#outbox.add(workerRecords.terminate, id)
    else this.#outbox.add(workerRecords.open, id, opening)
  }

  #receive(kind: number, id: number, body: Buffer): void {
    this.#unanswered = 0
    switch (kind) {
      case mainRecords.ready:
        return this.#becomesReady()
      case mainRecords.opened:
        return this.#opened(id)
      case mainRecords.failed:
        return this.#failed(id, body)
      case mainRecords.closed:
        return this.#closed(id, body.readUInt16LE())
      case mainRecords.beat:
        return
      default:
        this.#sockets.get(id)?.socket.receive(kind, body)
    }
  }

  #opened(id: number): void {
    const arrival = this.#arrivals.take(id)
    if (arrival === null) return void this.#outbox.add(workerRecords.terminate, id)
    const { sendBufferBytesMax, memory, largeFrames } = this.#parts
    const owner = { address: arrival.knock.address, workspaceId: arrival.workspaceId }
    const socket = new RemoteSocket(id, owner, {
      outbox: this.#outbox,
      sendBufferBytesMax,
      memory,
      largeFrames,
    })
    this.#sockets.set(id, { socket, arrival })
    arrival.opened(socket)
  }

  #failed(id: number, body: Buffer): void {
    const failure = JSON.parse(body.toString()) as Failure
    const arrival = this.#sockets.get(id)?.arrival
    if (arrival === undefined) return
    this.#parts.endings.failed(failure.code, failure, arrival.workspaceId ?? arrival.knock.address)
  }

  #closed(id: number, code: number): void {
    this.#arrivals.take(id)?.connection.destroy()
    const known = this.#sockets.get(id)
    if (known === undefined) return
    this.#sockets.delete(id)
    this.#parts.endings.closed(code)
    known.socket.closed()
    known.arrival.connection.destroy()
  }

  #beat(): void {
    this.#arrivals.beat()
    this.#outbox.add(workerRecords.beat, 0)
    // Counted in beats, not in time: when we have been held up ourselves it is not to blame.
    this.#unanswered += 1
    if (this.#unanswered > unansweredMax) this.#child.kill('SIGKILL')
  }

  #end(code: number | null, signal: string | null): WorkerEnd {
    const connections = this.size
    this.#link.destroy()
    this.#arrivals.end()
    for (const id of this.#sockets.keys()) this.#closed(id, closedAbnormally)
    const hung = this.#unanswered > unansweredMax
    return { pid: this.#child.pid, code, signal, connections, hung }
  }
}

/** Code of a connection that ended without a close frame (RFC 6455 7.1.5). */
const closedAbnormally = 1006

/** Without our environment: it holds secrets, and the worker needs none of it. */
const startProcess = (settings: WorkerSettings): ChildProcess =>
  fork(programPath, [JSON.stringify(settings)], {
    env: {},
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'pipe', 'ipc'],
  })

function linkOf(child: ChildProcess): Socket {
  const link = child.stdio[linkFile]
  if (!(link instanceof Socket)) throw new Error('a socket worker could not be started')
  return link
}
