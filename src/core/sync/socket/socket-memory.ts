import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { EndClient, MemoryAccount, MemoryClaim, MemoryOwner } from '../../quota/memory-account.ts'
import type { MemoryLedger } from '../../quota/memory-bounds.ts'
import type { SlowTransfers } from '../../quota/slow-transfers.ts'
import { UnreadBytes } from '../../quota/unread-bytes.ts'
import { endWithError, transferTooSlow } from './incomplete-message.ts'

export type SocketMemoryAccounts = Pick<
  MemoryLedger,
  'unauthenticatedMessages' | 'incompleteMessages' | 'unreadSockets'
>

export interface SocketOwner {
  readonly address: string
  /** Null before authentication. */
  readonly workspaceId: string | null
}

/**
 * Counts the memory that the incomplete message of one client takes. The claim is opened only when it is
 * needed, because most sockets have no incomplete message.
 */
export class SocketMemory {
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

/**
 * Counts the bytes that the client of a websocket has not read yet, after it has fallen behind. Closes the
 * connection if the client reads too slowly.
 */
export class UnreadSocket {
  readonly #bytes: UnreadBytes
  readonly #frames: UnreadFrames

  /** @param frames counts the memory of the unread frames */
  constructor(socket: WebSocket, connection: Duplex, transfers: SlowTransfers, frames: UnreadFrames) {
    this.#frames = frames
    this.#bytes = new UnreadBytes(
      connection,
      transfers,
      (unreadBytes) => frames.update(unreadBytes),
      () => endWithError(socket, connection, transferTooSlow, 'the client reads too slowly'),
    )
  }

  /**
   * Adds the frames of a write. Must be called after each write that the operating system has not accepted
   * completely.
   */
  wrote(frames: readonly Uint8Array[]): void {
    for (const each of frames) this.#frames.add(each)
    this.#bytes.wrote()
  }

  /** Stops counting the unread bytes. */
  release(): void {
    this.#bytes.release()
  }
}

/**
 * Minimum bytes of a frame that is counted only once, even if several clients have not read it. A smaller
 * frame is counted for each client.
 */
const largeFrameBytesMin = 65_536

/** A client with unread frames. */
interface FrameReader {
  readonly owner: MemoryOwner
  /** Closes the connection. */
  end(): void
}

/** Bytes that several clients share until they have read them: a frame, or its text. */
interface SharedBytes {
  readonly length: number
}

interface LargeFrame {
  readonly claim: MemoryClaim
  readonly readers: Set<FrameReader>
}

/**
 * Counts the memory of large frames that clients have not read. A frame that is sent to many clients is
 * counted only once.
 */
export class LargeFrameTracker {
  readonly #account: MemoryAccount
  readonly #frames = new Map<SharedBytes, LargeFrame>()

  constructor(account: MemoryAccount) {
    this.#account = account
  }

  add(frame: SharedBytes, reader: FrameReader): void {
    const { readers, claim } = this.#frames.get(frame) ?? this.#open(frame, reader)
    readers.add(reader)
    claim.set(frame.length)
  }

  delete(frame: SharedBytes, reader: FrameReader): void {
    const large = this.#frames.get(frame)
    if (large === undefined || !large.readers.delete(reader) || large.readers.size > 0) return
    large.claim.release()
    this.#frames.delete(frame)
  }

  #open(frame: SharedBytes, { owner }: FrameReader): LargeFrame {
    const readers = new Set<FrameReader>()
    const end = (): void => {
      this.#frames.delete(frame)
      for (const reader of readers) reader.end()
    }
    const large = { claim: this.#account.open(owner, end), readers }
    this.#frames.set(frame, large)
    return large
  }
}

/** Counts the memory of the frames that one client has not read. */
export class UnreadFrames {
  readonly #large: LargeFrameTracker
  readonly #reader: FrameReader
  readonly #claim: MemoryClaim
  /** The unread large frames in the order of sending, each with the position of its end. */
  #frames: { readonly frame: SharedBytes; readonly endsAt: number }[] = []
  #largeBytes = 0
  /** Position of the end of the last added frame: the number of bytes sent since an arbitrary start. */
  #position = 0

  constructor(account: MemoryAccount, large: LargeFrameTracker, reader: FrameReader) {
    this.#large = large
    this.#reader = reader
    this.#claim = account.open(reader.owner, () => reader.end())
  }

  /** Adds frames that were sent, in one buffer. The caller must call `update` afterwards. */
  add(frames: SharedBytes): void {
    this.#position += frames.length
    if (frames.length < largeFrameBytesMin) return
    this.#frames.push({ frame: frames, endsAt: this.#position })
    this.#largeBytes += frames.length
    this.#large.add(frames, this.#reader)
  }

  /**
   * Removes the frames that the client has read.
   * @param unreadBytes number of bytes that were sent and not read; 0 if the client has read everything or
   * the connection is closed
   */
  update(unreadBytes: number): void {
    const readTo = this.#position - unreadBytes
    while (this.#frames[0] !== undefined && this.#frames[0].endsAt <= readTo)
      this.#deleteFirst(this.#frames[0].frame)
    this.#claim.set(Math.max(0, unreadBytes - this.#largeBytes))
  }

  #deleteFirst(frame: SharedBytes): void {
    this.#frames.shift()
    this.#largeBytes -= frame.length
    if (this.#frames.every((other) => other.frame !== frame)) this.#large.delete(frame, this.#reader)
  }
}
