import { type BudgetedReader, newTickBudget } from '../../quota/tick-shares.ts'
import type { ReadBackpressure } from '../socket/read-backpressure.ts'

/** A socket that can be paused for several reasons. */
interface UnroutedSocket {
  pauseFor(reason: UnroutedMessages): void
  resumeFor(reason: UnroutedMessages): void
}

/**
 * Limits the frames on a multiplexed websocket that belong to no open document. Together, these frames
 * have a budget for each tick, as the messages of a document have.
 */
export class UnroutedMessages implements BudgetedReader {
  readonly budget = newTickBudget()
  readonly #socket: UnroutedSocket
  readonly #backpressure: ReadBackpressure
  #workspaceId: string

  constructor(socket: UnroutedSocket, backpressure: ReadBackpressure, address: string) {
    this.#socket = socket
    this.#backpressure = backpressure
    this.#workspaceId = address
  }

  /** The workspace of the client. Until the client is authenticated, the address of the client instead. */
  get workspaceId(): string {
    return this.#workspaceId
  }

  /**
   * Sets `workspaceId` to the workspace of the authenticated client. Until this call, `workspaceId` is the
   * address of the client.
   */
  authenticated(workspaceId: string): void {
    this.end()
    this.resumeReading()
    this.#workspaceId = workspaceId
  }

  /** Counts frames. Must be called after each message, and for all other frames, that belong to no open document. */
  received(frames: number): void {
    this.#backpressure.check(this, frames)
  }

  pauseReading(): void {
    this.#socket.pauseFor(this)
  }

  resumeReading(): void {
    this.#socket.resumeFor(this)
  }

  /** Removes this reader from the backpressure. Must be called when the connection is closed. */
  end(): void {
    this.#backpressure.forget(this)
  }
}
