/** Receives the events of a client's socket. */
export interface SocketListener {
  /** One whole message. */
  message(data: Buffer, isBinary: boolean): void
  ping(bytes: number): void
  pong(bytes: number): void
  /** @param bytes received bytes of an incomplete message; 0: it is complete, or the connection is closed */
  incomplete(bytes: number): void
}

/** A client's websocket, or one document on a websocket that several documents share. No method throws or blocks. */
export interface ClientSocket {
  /** True if frames can still be sent. */
  readonly isOpen: boolean
  /** True if more unread bytes wait than the limit of one client. */
  readonly isFull: boolean
  /** True if the clients of the workspace have so much unread that large replies wait. */
  readonly isCrowded: boolean
  /** Sets the listener. Call it once, before the first message is read. */
  listen(listener: SocketListener): void
  /** Calls `fn` once when the connection is closed, with the close code if the connection has one. */
  onClosed(fn: (code?: number) => void): void
  /** Sends whole websocket frames. Frames of one tick become one system call. */
  write(frames: Uint8Array): void
  /** Calls `fn` once when the operating system has taken all waiting bytes; never on a dead connection. */
  whenDrained(fn: () => void): void
  ping(): void
  /** Stops reading. Messages that have already been read from the connection still arrive. */
  pause(): void
  resume(): void
  /** The client is authenticated, and its messages may be larger. */
  admit(workspaceId: string): void
  close(code: number, reason: string): void
  /** Closes the connection without a close frame. */
  terminate(): void
}
