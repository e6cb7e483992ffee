/** What a session hears of its client. */
export interface SocketListener {
  /** One whole message. */
  message(data: Buffer, isBinary: boolean): void
  ping(bytes: number): void
  pong(bytes: number): void
  /** The number of bytes that have arrived of an incomplete message; 0: it is complete, or the connection is closed. */
  incomplete(bytes: number): void
}

/** A client's websocket, or one document on a websocket that several documents share. No method throws or blocks. */
export interface ClientSocket {
  /** Can something still be said? */
  readonly isOpen: boolean
  /** More is waiting to be sent than a reader may be behind. */
  readonly isFull: boolean
  /** Whether the clients of the workspace have not read so much that large answers wait. */
  readonly isCrowded: boolean
  /** Once, before the first message is read. */
  listen(listener: SocketListener): void
  /** `fn` is called once, when the connection is gone. */
  onClosed(fn: () => void): void
  /** Whole websocket frames; what is written in one turn of the event loop becomes one system call. */
  write(frames: Uint8Array): void
  /** Calls `fn` once when all that is waiting has been handed to the operating system; never on a dead connection. */
  whenDrained(fn: () => void): void
  ping(): void
  /** Nothing is read any more, except for what has been read of the connection already. */
  pause(): void
  resume(): void
  /** The client is authenticated: its messages may be larger. */
  admit(workspaceId: string): void
  close(code: number, reason: string): void
  /** Ends without a word. */
  terminate(): void
}
