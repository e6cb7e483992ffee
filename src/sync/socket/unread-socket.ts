import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { SlowTransfers } from '../../quota/slow-transfers.ts'
import { UnreadBytes } from '../../quota/unread-bytes.ts'
import { endWithError, transferTooSlow } from './incomplete-message.ts'
import type { UnreadFrames } from './unread-frames.ts'

/** A websocket whose client has fallen behind: closes it if the client reads too slowly. */
export class UnreadSocket {
  readonly #bytes: UnreadBytes
  readonly #frames: UnreadFrames

  /** @param frames counts the memory */
  constructor(socket: WebSocket, connection: Duplex, transfers: SlowTransfers, frames: UnreadFrames) {
    this.#frames = frames
    this.#bytes = new UnreadBytes(connection, {
      transfers,
      changed: (unreadBytes) => frames.update(unreadBytes),
      tooSlow: () => endWithError(socket, connection, transferTooSlow, 'the client reads too slowly'),
    })
  }

  /** Call this after a write that the operating system has not taken completely. */
  wrote(frames: readonly Uint8Array[]): void {
    for (const each of frames) this.#frames.add(each)
    this.#bytes.wrote()
  }

  /** Stops counting. */
  release(): void {
    this.#bytes.release()
  }
}
