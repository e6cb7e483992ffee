import type { Duplex } from 'node:stream'
import type { EndClient, MemoryClaim } from '../../quota/memory-account.ts'
import { type MemoryLedger, unauthenticatedMessageBytesMax } from '../../quota/memory-bounds.ts'
import { SlowTransfers } from '../../quota/slow-transfers.ts'
import { SyncSocket, type UpgradeRequest, WebsocketUpgrader } from '../connect/websocket-upgrader.ts'
import type { ClientSocket, SocketListener } from './client-socket.ts'
import type { CloseReporterDependencies } from './close-reporter.ts'
import { type IncompleteChanged, IncompleteMessage } from './incomplete-message.ts'
import { SocketWriter, WriteBatch } from './socket-writer.ts'
import { LargeFrameTracker, UnreadFrames, UnreadSocket } from './unread-socket.ts'

export type SocketMemoryAccounts = Pick<
  MemoryLedger,
  'unauthenticatedMessages' | 'incompleteMessages' | 'unreadSockets'
>

interface SocketOwner {
  readonly address: string
  /** Null before authentication. */
  readonly workspaceId: string | null
}

/**
 * Counts the memory that the incomplete message of one websocket takes. The claim is opened only when it is
 * needed, because most sockets have no incomplete message.
 */
class SocketMemory {
  readonly #accounts: SocketMemoryAccounts
  readonly #end: EndClient
  owner: SocketOwner
  #incomplete: MemoryClaim | null = null

  /** @param end closes the connection; called if too much memory is used */
  constructor(accounts: SocketMemoryAccounts, owner: SocketOwner, end: EndClient) {
    this.#accounts = accounts
    this.owner = owner
    this.#end = end
  }

  /**
   * Counts the memory for the workspace instead of the address from now on, because the client is
   * authenticated.
   */
  admit(workspaceId: string): void {
    const bytes = this.#incomplete?.bytes ?? 0
    this.release()
    this.owner = { ...this.owner, workspaceId }
    this.#incomplete = null
    if (bytes > 0) this.setIncomplete(bytes)
  }

  get isCrowded(): boolean {
    return this.#accounts.unreadSockets.isCrowded(this.owner)
  }

  /** Sets the size of the incomplete message. @param bytes memory in bytes that the message takes */
  setIncomplete(bytes: number): void {
    if (bytes === 0 && this.#incomplete === null) return
    const { unauthenticatedMessages, incompleteMessages } = this.#accounts
    const account = this.owner.workspaceId === null ? unauthenticatedMessages : incompleteMessages
    this.#incomplete ??= account.open(this.owner, this.#end)
    this.#incomplete.set(bytes)
  }

  /** Releases the memory when the connection is closed. */
  release(): void {
    this.#incomplete?.release()
  }
}

/** A client websocket with its own TCP connection. */
class LocalSocket implements ClientSocket {
  readonly #socket: SyncSocket
  readonly #writer: SocketWriter
  readonly #dependencies: SocketAcceptorDependencies
  readonly #memory: SocketMemory
  readonly #incomplete: IncompleteMessage
  /** Counts the unread bytes; null until the client falls behind for the first time. */
  #unread: UnreadSocket | null = null

  constructor(
    socket: SyncSocket,
    connection: Duplex,
    owner: SocketOwner,
    dependencies: SocketAcceptorDependencies,
  ) {
    this.#socket = socket
    this.#writer = new SocketWriter(socket, connection, dependencies.batch, (frames) =>
      this.#addUnread(frames),
    )
    this.#dependencies = dependencies
    this.#memory = new SocketMemory(dependencies.memory, owner, () => this.terminate())
    const changed: IncompleteChanged = (messageBytes, keptBytes) => {
      SyncSocket.listenerOf(socket)?.incomplete(messageBytes)
      this.#memory.setIncomplete(keptBytes)
    }
    this.#incomplete = new IncompleteMessage(socket, connection, dependencies.transfers, changed)
    if (owner.workspaceId === null) this.#incomplete.bytesMax = unauthenticatedMessageBytesMax
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN
  }

  get isFull(): boolean {
    return this.#writer.waitingBytes > this.#dependencies.sendBufferBytesMax
  }

  get isCrowded(): boolean {
    return this.#memory.isCrowded
  }

  listen(listener: SocketListener): void {
    this.#socket.listen(listener)
  }

  onClosed(fn: (code?: number) => void): void {
    // The event occurs only once, so `on` suffices. `once` would take more memory than the rest of the
    // listener.
    this.#socket.on('close', fn)
  }

  write(frames: Uint8Array): void {
    this.#writer.write(frames)
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
    const { memory, largeFrames, transfers } = this.#dependencies
    const reader = { owner: this.#memory.owner, end: () => this.terminate() }
    const frames = new UnreadFrames(memory.unreadSockets, largeFrames, reader)
    return new UnreadSocket(this.#socket, this.#writer.connection, transfers, frames)
  }
}

export interface SocketAcceptorOptions {
  readonly messageBytesMax: number
  readonly sendBufferBytesMax: number
  /**
   * Milliseconds without progress after which a client that is sending a message, or reading sent bytes,
   * counts as too slow (see `SlowTransfers`).
   */
  readonly transferTimeoutMs: number
  readonly memory: SocketMemoryAccounts
}

interface SocketAcceptorDependencies extends SocketAcceptorOptions {
  readonly batch: WriteBatch
  readonly largeFrames: LargeFrameTracker
  readonly transfers: SlowTransfers
}

/** Accepts the connections of admitted clients as websockets. */
export class SocketAcceptor {
  readonly #upgrader: WebsocketUpgrader
  readonly #dependencies: SocketAcceptorDependencies

  constructor(options: SocketAcceptorOptions, reporting: CloseReporterDependencies) {
    this.#upgrader = new WebsocketUpgrader(options.messageBytesMax, 'maxMessageBytes', reporting)
    this.#dependencies = {
      ...options,
      batch: new WriteBatch(),
      largeFrames: new LargeFrameTracker(options.memory.unreadSockets),
      transfers: new SlowTransfers(options.transferTimeoutMs),
    }
  }

  /**
   * Upgrades the connection, and calls `then` when the websocket is open. If the handshake of the client is
   * invalid, sends an error response and never calls `then`.
   * @param workspaceId workspace of the client; null before authentication, in which case `admit` must be
   * called later
   */
  accept(upgrade: UpgradeRequest, workspaceId: string | null, then: (socket: ClientSocket) => void): void {
    const { connection, address } = upgrade
    this.#upgrader.accept(upgrade, workspaceId ?? address, (socket) =>
      then(new LocalSocket(socket, connection, { address, workspaceId }, this.#dependencies)),
    )
  }
}
