/** Receives the events of a client's socket. */
export interface SocketListener {
  /** Called with one whole message. */
  message(data: Buffer, isBinary: boolean): void
  ping(bytes: number): void
  pong(bytes: number): void
  /**
   * @param bytes received bytes of an incomplete message; 0 if the message is complete or the connection is
   * closed
   */
  incomplete(bytes: number): void
}

/** A client's websocket, or one document on a multiplexed websocket. No method throws or blocks. */
export interface ClientSocket {
  /** True if frames can still be sent. */
  readonly isOpen: boolean
  /** True if more bytes are unread than the limit of one client. */
  readonly isFull: boolean
  /** True if the clients of the workspace have too many unread bytes. Large replies must then wait. */
  readonly isCrowded: boolean
  /** Sets the listener. Call it once, before the first message is read. */
  listen(listener: SocketListener): void
  /** Calls `fn` once when the connection is closed, with the close code if the connection has one. */
  onClosed(fn: (code?: number) => void): void
  /** Sends whole websocket frames. All frames of one tick become one system call. */
  write(frames: Uint8Array): void
  /**
   * Calls `fn` once, when the operating system has accepted all waiting bytes. Never calls it if the
   * connection is dead.
   */
  whenDrained(fn: () => void): void
  ping(): void
  /** Stops reading. Messages that were already read from the connection still arrive. */
  pause(): void
  resume(): void
  /** Marks the client as authenticated, so that its messages may be larger. */
  admit(workspaceId: string): void
  close(code: number, reason: string): void
  /** Closes the connection without a close frame. */
  terminate(): void
}
