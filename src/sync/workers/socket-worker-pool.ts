import { Socket } from 'node:net'
import type { Clock } from '../../clock.ts'
import type { UpgradeRequest } from '../connect/upgrade-request.ts'
import type { ClientSocket, SocketAcceptor } from '../socket/client-socket.ts'
import { CloseReporter, type CloseReporterDependencies } from '../socket/close-reporter.ts'
import type { LocalGateOptions } from '../socket/local-socket.ts'
import { LargeFrameTracker } from '../socket/unread-frames.ts'
import { SocketWorker, type SocketWorkerOptions, type WorkerEnd } from './socket-worker.ts'

export interface PoolOptions extends LocalGateOptions {
  readonly workers: number
}

export interface SocketWorkerPoolDependencies extends CloseReporterDependencies {
  readonly clock: Clock
}

/** What is sent is told to us at the latest when it is so much, or such a share of what may wait. */
const reportedBytesMax = 65_536
const reportShare = 1 / 8
/** Pause before a worker is started again, doubled each time until one has run for a while. */
const againMs = { first: 100, last: 10_000, resetAfter: 10_000 }

/** Has other processes serve the websockets; one that ends is started again. */
export class SocketWorkerPool implements SocketAcceptor {
  readonly #workers: number
  readonly #parts: SocketWorkerPoolDependencies
  readonly #workerParts: SocketWorkerOptions
  /** Those that take connections. */
  readonly #running = new Set<SocketWorker>()
  /** All that have been started and have not ended. */
  readonly #alive = new Set<SocketWorker>()
  #state: 'open' | 'ended' = 'open'

  constructor(options: PoolOptions, parts: SocketWorkerPoolDependencies) {
    const { workers, messageBytesMax, sendBufferBytesMax, transferTimeoutMs, memory } = options
    this.#workers = workers
    this.#parts = parts
    const toldBytes = Math.min(reportedBytesMax, Math.floor(sendBufferBytesMax * reportShare))
    this.#workerParts = {
      settings: { messageBytesMax, toldBytes, transferTimeoutMs },
      sendBufferBytesMax,
      memory,
      largeFrames: new LargeFrameTracker(memory.unreadSockets),
      endings: new CloseReporter('maxMessageBytes', parts),
    }
  }

  get isOpen(): boolean {
    return this.#running.size > 0
  }

  /** @throws Error if a worker ends at its start */
  async start(): Promise<void> {
    const first = Array.from({ length: this.#workers }, () => this.#launch(againMs.first))
    try {
      await Promise.all(first.map((worker) => worker.ready))
    } catch (error) {
      await this.end()
      throw error
    }
  }

  accept(knock: UpgradeRequest, workspaceId: string | null, then: (socket: ClientSocket) => void): void {
    const { connection } = knock
    const [first, ...others] = this.#running
    // Only what comes over TCP can be handed over, and nothing else comes.
    if (first === undefined || !(connection instanceof Socket)) return void connection.destroy()
    const worker = others.reduce((least, each) => (each.size < least.size ? each : least), first)
    worker.take({ knock, connection, workspaceId, opened: then })
  }

  async end(): Promise<void> {
    this.#state = 'ended'
    await Promise.all([...this.#alive].map((worker) => worker.end()))
  }

  /** @param pauseMs before it is started again if it ends soon */
  #launch(pauseMs: number): SocketWorker {
    const { metrics, clock } = this.#parts
    const worker = new SocketWorker(this.#workerParts)
    const startedAt = clock.now()
    this.#alive.add(worker)
    worker.ready.then(
      () => {
        this.#running.add(worker)
        metrics.socketWorkers.set(this.#running.size)
      },
      () => {},
    )
    void worker.ended.then((end) => {
      this.#alive.delete(worker)
      this.#running.delete(worker)
      metrics.socketWorkers.set(this.#running.size)
      const hasRun = clock.now() - startedAt >= againMs.resetAfter
      if (this.#state === 'open') this.#again(end, hasRun ? againMs.first : pauseMs)
    })
    return worker
  }

  #again(end: WorkerEnd, pauseMs: number): void {
    const { logger, metrics, clock } = this.#parts
    logger.error(end, 'a socket worker has ended; its clients come back, and it is started again')
    clock.after(pauseMs, () => {
      if (this.#state === 'ended') return
      metrics.socketWorkerRestarts.inc()
      this.#launch(Math.min(pauseMs * 2, againMs.last))
    })
  }
}
