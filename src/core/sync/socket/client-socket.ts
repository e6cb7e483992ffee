import type { TransportName } from '../../rooms/room/open-connections.ts'

/** Receives the events of a client's socket. */
export interface SocketListener {
  /** Called with one whole message. */
  message(data: Buffer, isBinary: boolean): void
  /**
   * Called instead of `message` if the message is too large. Only multiplexed connections call it; others
   * close.
   * @param head start of the message @param bytes length of the whole message
   */
  messageTooLarge(head: Buffer, bytes: number): void
  /**
   * Called for work that belongs to no message: control frames, and fragments of messages. The client is alive.
   * @param bytes number of bytes that count in addition to the cost of the frames
   */
  frames(count: number, bytes: number): void
  /**
   * Called when the number of received bytes of an incomplete message has changed.
   * @param bytes bytes received so far; 0 if the message is complete or the connection is closed
   */
  incomplete(bytes: number): void
}

/**
 * The connection of a client: a websocket, a session over HTTP, or one document on a multiplexed connection. Its
 * methods never throw and never block.
 */
export interface ClientSocket {
  readonly transport: TransportName
  /** True if frames can still be sent. */
  readonly isOpen: boolean
  /** True if the client has more unread bytes than the limit for one client. */
  readonly isFull: boolean
  /**
   * True if all clients of the workspace together have too many unread bytes. Large replies must then wait.
   */
  readonly isCrowded: boolean
  /** Sets the listener. Call it once, before the first message is read. */
  listen(listener: SocketListener): void
  /** Calls `fn` once when the connection is closed, with the close code if it is known. */
  onClosed(fn: (code?: number) => void): void
  /**
   * Sends whole websocket frames, or a part of one whose other parts follow directly. All frames of one tick
   * are written in one system call.
   */
  write(frames: Uint8Array): void
  /**
   * Like `write`, for whole frames that other clients get as well, in the same buffer. They may arrive before earlier
   * frames, or after later ones.
   */
  share(frames: Uint8Array): void
  /**
   * Calls `fn` once, when the operating system has accepted all waiting bytes. Never calls `fn` if the
   * connection is dead.
   */
  whenDrained(fn: () => void): void
  ping(): void
  /** Stops reading from the connection. The listener still receives messages that were already read. */
  pause(): void
  resume(): void
  /** Marks the client as authenticated, so that its messages may be larger. */
  admit(workspaceId: string): void
  close(code: number, reason: string): void
  /** Closes the connection without a close frame. */
  terminate(): void
}
