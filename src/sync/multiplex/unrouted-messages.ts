import { type BudgetedReader, newTickBudget, type ReadBackpressure } from '../socket/read-backpressure.ts'

/** A socket that several readers can pause. */
interface UnroutedSocket {
  pauseFor(reason: UnroutedMessages): void
  resumeFor(reason: UnroutedMessages): void
}

/** The messages on a multiplexed socket to no open document. They have a budget in each tick, as a document has. */
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

  /** The address of the client until it is authenticated. */
  get workspaceId(): string {
    return this.#workspaceId
  }

  /** From now on, the budget is shared within the workspace and not within the address. */
  authenticated(workspaceId: string): void {
    this.end()
    this.resumeReading()
    this.#workspaceId = workspaceId
  }

  /** Call after each message. */
  received(): void {
    this.#backpressure.check(this)
  }

  pauseReading(): void {
    this.#socket.pauseFor(this)
  }

  resumeReading(): void {
    this.#socket.resumeFor(this)
  }

  /** The connection is closed. */
  end(): void {
    this.#backpressure.forget(this)
  }
}
