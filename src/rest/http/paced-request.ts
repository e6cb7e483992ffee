import { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { subnetOf } from '../../core/access/client-address.ts'
import {
  type BudgetedReader,
  bytesPerPiece,
  newTickBudget,
  pieceCostBytes,
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
class PacedConnection implements BudgetedReader {
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

/** Maximum cost of the body that arrives after the response. Each byte costs 1, and each chunk `pieceCostBytes` more. */
const discardedCostMax = 67_108_864

/**
 * A request that counts toward the share of its address: its chunks, and the work that the server does for it before the
 * credentials are known.
 */
export abstract class PacedRequest extends IncomingMessage {
  protected abstract readonly pacer: ConnectionPacer
  #connection: PacedConnection | null = null
  /** Cost of the body since the response; null before it. */
  #discardedCost: number | null = null

  /** Counts pieces of input, or work that takes as long as these. */
  countPieces(pieces: number): void {
    this.#connection ??= this.pacer.at(this.socket)
    if (this.#connection !== null) this.pacer.count(this.#connection, pieces)
  }

  /**
   * Discards the rest of the body, because the response is complete. The client can thus read the response, even if it
   * first writes the whole body. If the rest costs more than a limit, the connection is closed.
   */
  discardRest(): void {
    if (this.complete) return
    this.#discardedCost = 0
    this.resume()
    // Without a reader, Node would discard the body before it counts.
    this.read(0)
  }

  /** Node calls this method with each chunk of the body, and with null at its end. */
  override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
    if (chunk !== null) this.#count(chunk)
    return super.push(chunk, encoding)
  }

  /** Node calls this method to continue reading the connection. */
  override _read(size: number): void {
    if (this.#connection?.isPaused !== true) super._read(size)
  }

  #count(chunk: Buffer): void {
    const chunks = this.headers['transfer-encoding'] === undefined ? 0 : 1
    this.countPieces(chunks + chunk.length / bytesPerPiece)
    if (this.#discardedCost === null) return
    this.#discardedCost += chunk.length + pieceCostBytes
    if (this.#discardedCost > discardedCostMax) this.socket.destroy()
  }
}
