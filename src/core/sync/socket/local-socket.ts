import type { Duplex } from 'node:stream'
import { forwardedRequests } from '../../access/forwarded-requests.ts'
import type { Log } from '../../base/log.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import type { LimitReports } from '../../quota/limit-reports.ts'
import { unauthenticatedMessageBytesMax } from '../../quota/memory-bounds.ts'
import { SlowTransfers } from '../../quota/slow-transfers.ts'
import type { ClientSocket, SocketListener } from './client-socket.ts'
import { type IncompleteChanged, IncompleteMessage } from './incomplete-message.ts'
import { MessageCutter } from './message-cutter.ts'
import { type SharedFrameSender, SharedFrames } from './shared-frames.ts'
import {
  LargeFrameTracker,
  SocketMemory,
  type SocketMemoryAccounts,
  type SocketOwner,
  UnreadFrames,
  UnreadSocket,
} from './socket-memory.ts'
import { SocketWriter, WriteBatch } from './socket-writer.ts'
import { SyncSocket } from './sync-socket.ts'
import { CloseReporter, type UpgradeRequest, WebsocketUpgrader } from './websocket-upgrader.ts'

/** A client websocket with its own TCP connection. */
class LocalSocket implements ClientSocket {
  readonly transport = 'websocket'
  readonly #socket: SyncSocket
  readonly #writer: SocketWriter
  readonly #acceptor: SocketAcceptor
  readonly #memory: SocketMemory
  readonly #incomplete: IncompleteMessage
  /** Counts the unread bytes; null until the client falls behind for the first time. */
  #unread: UnreadSocket | null = null
  /** Sends the shared frames to the node that forwards the websocket; null if the websocket must carry them. */
  sender: SharedFrameSender | null = null

  constructor(
    socket: SyncSocket,
    connection: Duplex,
    owner: SocketOwner,
    acceptor: SocketAcceptor,
    cutter: MessageCutter | null,
  ) {
    this.#socket = socket
    this.#writer = new SocketWriter(socket, connection, acceptor.batch, (frames) => this.#addUnread(frames))
    this.#writer.uncorkLater()
    this.#acceptor = acceptor
    this.#memory = new SocketMemory(acceptor.options.memory, owner, () => this.terminate())
    const changed: IncompleteChanged = (messageBytes, keptBytes) => {
      SyncSocket.listenerOf(socket)?.incomplete(messageBytes)
      this.#memory.setIncomplete(keptBytes)
    }
    const extraFrames = (frames: number): void => SyncSocket.listenerOf(socket)?.frames(frames, 0)
    const { transfers } = acceptor
    this.#incomplete = new IncompleteMessage(socket, connection, transfers, changed, extraFrames, cutter)
    if (owner.workspaceId === null) this.#incomplete.bytesMax = unauthenticatedMessageBytesMax
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN
  }

  get isFull(): boolean {
    return this.#writer.waitingBytes > this.#acceptor.options.sendBufferBytesMax
  }

  get isCrowded(): boolean {
    return this.#memory.isCrowded
  }

  listen(listener: SocketListener): void {
    this.#socket.listen(listener, this.#acceptor.batch)
    if (this.#memory.owner.workspaceId !== null) this.#socket.admit()
  }

  onClosed(fn: (code?: number) => void): void {
    // The event occurs only once, so `on` suffices. `once` would take more memory than the rest of the
    // listener.
    this.#socket.on('close', fn)
  }

  write(frames: Uint8Array): void {
    this.#writer.write(frames)
  }

  share(frames: Uint8Array): void {
    if (this.sender?.send(this, frames) !== true) this.#writer.write(frames)
  }

  whenDrained(fn: () => void): void {
    this.#writer.whenDrained(fn)
  }

  ping(): void {
    this.#writer.flush()
    if (this.isOpen) this.#socket.ping()
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  admit(workspaceId: string): void {
    this.#incomplete.bytesMax = null
    this.#socket.admit()
    this.#memory.admit(workspaceId)
    // The next `UnreadSocket` counts unread bytes for the workspace instead of the address.
    this.#unread?.release()
    this.#unread = null
  }

  close(code: number, reason: string): void {
    this.#writer.flush()
    this.#socket.close(code, reason)
  }

  terminate(): void {
    this.#socket.terminate()
  }

  #addUnread(frames: readonly Uint8Array[]): void {
    this.#unread ??= this.#newUnread()
    this.#unread.wrote(frames)
  }

  #newUnread(): UnreadSocket {
    const { largeFrames, transfers, options } = this.#acceptor
    const reader = { owner: this.#memory.owner, end: () => this.terminate() }
    const frames = new UnreadFrames(options.memory.unreadSockets, largeFrames, reader)
    return new UnreadSocket(this.#socket, this.#writer.connection, transfers, frames)
  }
}

interface SocketAcceptorOptions {
  readonly messageBytesMax: number
  readonly sendBufferBytesMax: number
  /**
   * Milliseconds without progress after which a client that is sending a message, or reading sent bytes,
   * counts as too slow (see `SlowTransfers`).
   */
  readonly transferTimeoutMs: number
  readonly memory: SocketMemoryAccounts
}

/** Accepts the connections of admitted clients as websockets. */
export class SocketAcceptor {
  readonly #upgrader: WebsocketUpgrader
  readonly options: SocketAcceptorOptions
  readonly reports: LimitReports
  readonly batch = new WriteBatch()
  readonly sharedFrames = new SharedFrames(this.batch)
  readonly largeFrames: LargeFrameTracker
  readonly transfers: SlowTransfers

  constructor(options: SocketAcceptorOptions, logger: Log, metrics: Metrics, reports: LimitReports) {
    const reporter = new CloseReporter('maxMessageBytes', logger, metrics, reports)
    this.#upgrader = new WebsocketUpgrader(options.messageBytesMax, reporter)
    this.options = options
    this.reports = reports
    this.largeFrames = new LargeFrameTracker(options.memory.unreadSockets)
    this.transfers = new SlowTransfers(options.transferTimeoutMs)
  }

  /**
   * Upgrades the connection, and calls `then` when the websocket is open. If the handshake of the client is
   * invalid, sends an error response and never calls `then`.
   * @param workspaceId workspace of the client; null before authentication, in which case `admit` must be
   * called later
   */
  accept(upgrade: UpgradeRequest, workspaceId: string | null, then: (socket: ClientSocket) => void): void {
    this.#accept(upgrade, workspaceId, null, then)
  }

  /**
   * Upgrades a connection that carries several documents. A message that is too large does not close it (see
   * `SocketListener.messageTooLarge`).
   */
  acceptMultiplexed(upgrade: UpgradeRequest, then: (socket: ClientSocket) => void): void {
    this.#accept(upgrade, null, new MessageCutter(this.options.messageBytesMax), then)
  }

  /** Upgrades the connection over which another node receives shared frames. */
  acceptSharedFrames(upgrade: UpgradeRequest, node: string): void {
    this.#upgrader.accept(upgrade, node, (socket) =>
      this.sharedFrames.open(node, socket, upgrade.request.socket),
    )
  }

  #accept(
    upgrade: UpgradeRequest,
    workspaceId: string | null,
    cutter: MessageCutter | null,
    then: (socket: ClientSocket) => void,
  ): void {
    const { connection, address, request } = upgrade
    const forwarded = forwardedRequests.get(request)
    // The response to the upgrade waits for the first frames of this tick, so that one system call sends both.
    connection.cork()
    this.#upgrader.accept(upgrade, workspaceId ?? address, (socket) => {
      if (cutter !== null) socket.cutLargeMessages(cutter)
      const accepted = new LocalSocket(socket, connection, { address, workspaceId }, this, cutter)
      if (forwarded !== undefined && forwarded.websocket !== null)
        accepted.onClosed(this.sharedFrames.enter(forwarded.node, forwarded.websocket, accepted))
      then(accepted)
    })
  }
}
