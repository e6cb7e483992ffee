import { type BudgetedReader, newTickBudget, type ReadBackpressure } from '../socket/read-backpressure.ts'

/** A socket whose reading can be held up by several. */
interface UnroutedSocket {
  pauseFor(reason: UnroutedMessages): void
  resumeFor(reason: UnroutedMessages): void
}

/** What is said on a shared socket to no document that is open on it: has its share of each turn, as a document has. */
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

  /** The client's address as long as nobody knows it. */
  get workspaceId(): string {
    return this.#workspaceId
  }

  /** From now on it has its share with others of the workspace, and waits no more with those of the address. */
  authenticated(workspaceId: string): void {
    this.end()
    this.resumeReading()
    this.#workspaceId = workspaceId
  }

  /** To be called after each message. */
  received(): void {
    this.#backpressure.check(this)
  }

  pauseReading(): void {
    this.#socket.pauseFor(this)
  }

  resumeReading(): void {
    this.#socket.resumeFor(this)
  }

  /** The connection is gone. */
  end(): void {
    this.#backpressure.forget(this)
  }
}
