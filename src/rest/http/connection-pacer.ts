import type { Socket } from 'node:net'
import { subnetOf } from '../../core/access/client-address.ts'
import {
  type BudgetedReader,
  newTickBudget,
  type TickBudget,
  type TickShares,
} from '../../core/quota/tick-shares.ts'

/** The open connections of one address, with their common budget. */
interface AddressConnections {
  readonly name: string
  readonly budget: TickBudget
  readonly connections: Set<PacedConnection>
}

/**
 * A connection that is read in the shares of its address. Before the credentials are known, and for other calls of the
 * same client, only the address is known.
 */
export class PacedConnection implements BudgetedReader {
  readonly #socket: Socket
  readonly #address: AddressConnections
  #isPaused = false

  constructor(socket: Socket, address: AddressConnections) {
    this.#socket = socket
    this.#address = address
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  get workspaceId(): string {
    return this.#address.name
  }

  get budget(): TickBudget {
    return this.#address.budget
  }

  get sharers(): ReadonlySet<PacedConnection> {
    return this.#address.connections
  }

  pauseReading(): void {
    this.#isPaused = true
    this.#socket.pause()
  }

  resumeReading(): void {
    this.#isPaused = false
    if (!this.#socket.destroyed) this.#socket.resume()
  }
}

/** Reads the connections of one server, except upgraded ones, in shares of their addresses. */
export class ConnectionPacer {
  readonly #shares: TickShares
  readonly #bySocket = new Map<Socket, PacedConnection>()
  readonly #byAddress = new Map<string, AddressConnections>()

  constructor(shares: TickShares) {
    this.#shares = shares
  }

  add(socket: Socket): void {
    const name = `address ${subnetOf(socket.remoteAddress ?? '')}`
    const address = this.#byAddress.get(name) ?? { name, budget: newTickBudget(), connections: new Set() }
    const connection = new PacedConnection(socket, address)
    this.#byAddress.set(name, address)
    this.#bySocket.set(socket, connection)
    address.connections.add(connection)
  }

  remove(socket: Socket): void {
    const connection = this.#bySocket.get(socket)
    if (connection === undefined) return
    this.#bySocket.delete(socket)
    this.#shares.forget(connection)
    const address = this.#byAddress.get(connection.workspaceId)
    address?.connections.delete(connection)
    if (address?.connections.size === 0) this.#byAddress.delete(address.name)
  }

  /** Returns the connection of a socket; null if it is upgraded or closed. */
  at(socket: Socket): PacedConnection | null {
    return this.#bySocket.get(socket) ?? null
  }

  count(connection: PacedConnection, pieces: number): void {
    this.#shares.count(connection, pieces)
  }
}
