import type { IncomingMessage } from 'node:http'
import { type SlowTransfers, type Transfer, timedRequests } from '../../quota/slow-transfers.ts'

/** Memory in bytes that each chunk takes in addition to its content. */
const chunkBytes = 256
/**
 * Minimum bytes of a body whose messages are copied. Otherwise one pending update would keep the whole body in
 * memory.
 */
const copiedBytesMin = 65_536

/** The reason for which a body cannot be read. */
export type BodyProblem = 'disconnected' | 'tooLarge'

export interface BodyReader {
  /**
   * Called when bytes have arrived.
   * @param messageBytes number of received bytes
   * @param keptBytes memory in bytes that they take
   */
  received(messageBytes: number, keptBytes: number): void
  complete(messages: PostedMessages): void
  failed(problem: BodyProblem): void
}

/**
 * Reads the body of a POST: messages, each with its length before it (`varuint` of lib0). Calls exactly one of
 * `complete` and `failed`. A body that is too slow counts as disconnected.
 */
export class MessageBody implements Transfer {
  readonly #request: IncomingMessage
  readonly #bytesMax: number
  readonly #transfers: SlowTransfers
  readonly #reader: BodyReader
  #chunks: Buffer[] = []
  #bytes = 0
  #state: 'reading' | 'ended' = 'reading'

  /** True while the server does not read the body. */
  isPaused = true

  constructor(request: IncomingMessage, bytesMax: number, transfers: SlowTransfers, reader: BodyReader) {
    this.#request = request
    this.#bytesMax = bytesMax
    this.#transfers = transfers
    this.#reader = reader
    timedRequests.add(request)
    transfers.add(this)
  }

  get transferredBytes(): number {
    return this.#bytes
  }

  tooSlow(): void {
    this.#request.destroy()
    this.#fail('disconnected')
  }

  /** Begins or continues to read. */
  resume(): void {
    const request = this.#request
    if (this.#state === 'ended') return
    this.isPaused = false
    if (request.listenerCount('data') === 0) {
      request.on('data', (chunk: Buffer) => this.#received(chunk))
      request.on('end', () => this.#end())
      request.on('error', () => this.#fail('disconnected'))
      request.on('close', () => this.#fail('disconnected'))
    }
    if (request.destroyed) this.#fail('disconnected')
    else request.resume()
  }

  pause(): void {
    this.isPaused = true
    if (this.#state === 'reading') this.#request.pause()
  }

  /** Stops reading. A later call of `resume` has no effect. */
  drop(): void {
    this.#state = 'ended'
    this.#transfers.delete(this)
    timedRequests.delete(this.#request)
    this.#chunks = []
  }

  #received(chunk: Buffer): void {
    if (this.#state === 'ended') return
    this.#bytes += chunk.length
    if (this.#bytes > this.#bytesMax) return this.#fail('tooLarge')
    this.#chunks.push(chunk)
    this.#reader.received(this.#bytes, this.#bytes + this.#chunks.length * chunkBytes)
  }

  #end(): void {
    if (this.#state === 'ended') return
    const [first] = this.#chunks
    const body = this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks)
    this.drop()
    this.#reader.complete(new PostedMessages(body))
  }

  #fail(problem: BodyProblem): void {
    if (this.#state === 'ended') return
    this.drop()
    this.#reader.failed(problem)
  }
}

/** The messages of a body that were not used yet. They are read one by one, because a body may have millions. */
export class PostedMessages {
  readonly #body: Buffer
  #at = 0

  constructor(body: Buffer) {
    this.#body = body
  }

  get isEmpty(): boolean {
    return this.#at >= this.#body.length
  }

  /** Removes the next message and returns it; null if the lengths do not fit. */
  next(): Buffer | null {
    const body = this.#body
    let length = 0
    let scale = 1
    let byte = 128
    while (byte > 127) {
      if (this.#at >= body.length || scale > 2 ** 28) return null
      byte = body.readUInt8(this.#at++)
      length += (byte & 127) * scale
      scale *= 128
    }
    const end = this.#at + length
    if (end > body.length) return null
    const message = body.subarray(this.#at, end)
    this.#at = end
    return body.length >= copiedBytesMin && length < body.length / 2 ? Buffer.from(message) : message
  }
}
