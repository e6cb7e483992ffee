import { IncomingMessage } from 'node:http'
import { pieceCostBytes } from '../../core/quota/tick-shares.ts'
import type { ConnectionPacer, PacedConnection } from './connection-pacer.ts'

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
    if (this.headers['transfer-encoding'] !== undefined) this.countPieces(1)
    if (this.#discardedCost === null) return
    this.#discardedCost += chunk.length + pieceCostBytes
    if (this.#discardedCost > discardedCostMax) this.socket.destroy()
  }
}
