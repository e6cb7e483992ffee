import { type BudgetedReader, newTickBudget, type ReadBackpressure } from '../socket/read-backpressure.ts'

/** A socket that can be paused for several reasons. */
interface UnroutedSocket {
  pauseFor(reason: UnroutedMessages): void
  resumeFor(reason: UnroutedMessages): void
}

/**
 * Messages on a multiplexed websocket that belong to no open document. Like a document, they have a budget in
 * each tick.
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

  /** The workspace of the client; until the client is authenticated, its address. */
  get workspaceId(): string {
    return this.#workspaceId
  }

  /** Uses the workspace instead of the address from now on. */
  authenticated(workspaceId: string): void {
    this.end()
    this.resumeReading()
    this.#workspaceId = workspaceId
  }

  /** Must be called after each message. */
  received(): void {
    this.#backpressure.check(this)
  }

  pauseReading(): void {
    this.#socket.pauseFor(this)
  }

  resumeReading(): void {
    this.#socket.resumeFor(this)
  }

  /** Must be called when the connection is closed. */
  end(): void {
    this.#backpressure.forget(this)
  }
}
