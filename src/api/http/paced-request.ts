import { IncomingMessage } from 'node:http'
import { subnetOf } from '../../access/client-address.ts'
import {
  type BudgetedReader,
  newTickBudget,
  pieceCostBytes,
  type TickBudget,
  type TickShares,
} from '../../quota/tick-shares.ts'

/** Maximum cost of the body that arrives after the response. Each byte costs 1, and each chunk `pieceCostBytes` more. */
const discardedCostMax = 67_108_864

/**
 * A request whose connection is read in fair shares while its body arrives in small chunks. Before the credentials are
 * known, and for other calls of the same client, only the address is known, so the shares are by address.
 */
export abstract class PacedRequest extends IncomingMessage implements BudgetedReader {
  protected abstract readonly shares: TickShares
  #budget: TickBudget | null = null
  #address: string | null = null
  #isPaused = false
  /** Cost of the body since the response; null before it. */
  #discardedCost: number | null = null

  get budget(): TickBudget {
    this.#budget ??= newTickBudget()
    return this.#budget
  }

  get workspaceId(): string {
    this.#address ??= `address ${subnetOf(this.socket.remoteAddress ?? '')}`
    return this.#address
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
    if (!this.#isPaused) super._read(size)
  }

  pauseReading(): void {
    this.#isPaused = true
    this.socket.pause()
  }

  resumeReading(): void {
    this.#isPaused = false
    if (!this.socket.destroyed) this.socket.resume()
  }

  #count(chunk: Buffer): void {
    if (this.headers['transfer-encoding'] !== undefined) this.shares.count(this, 1)
    if (this.#discardedCost === null) return
    this.#discardedCost += chunk.length + pieceCostBytes
    if (this.#discardedCost > discardedCostMax) this.socket.destroy()
  }
}
