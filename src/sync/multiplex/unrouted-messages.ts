import { type BudgetedReader, newTickBudget, type ReadBackpressure } from '../socket/read-backpressure.ts'

/** A socket whose reading can be held up by several. */
interface UnroutedSocket {
  hold(holder: UnroutedMessages): void
  release(holder: UnroutedMessages): void
}

/** What is said on a shared socket to no document that is open on it: has its share of each turn, as a document has. */
export class UnroutedMessages implements BudgetedReader {
  readonly share = newTickBudget()
  readonly #socket: UnroutedSocket
  readonly #pressure: ReadBackpressure
  #workspaceId: string

  constructor(socket: UnroutedSocket, pressure: ReadBackpressure, address: string) {
    this.#socket = socket
    this.#pressure = pressure
    this.#workspaceId = address
  }

  /** The client's address as long as nobody knows it. */
  get workspaceId(): string {
    return this.#workspaceId
  }

  /** From now on it has its share with others of the workspace, and waits no more with those of the address. */
  know(workspaceId: string): void {
    this.end()
    this.resumeReading()
    this.#workspaceId = workspaceId
  }

  /** To be called after each message. */
  came(): void {
    this.#pressure.check(this)
  }

  pauseReading(): void {
    this.#socket.hold(this)
  }

  resumeReading(): void {
    this.#socket.release(this)
  }

  /** The connection is gone. */
  end(): void {
    this.#pressure.forget(this)
  }
}
