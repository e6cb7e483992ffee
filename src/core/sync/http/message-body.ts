import type { IncomingMessage } from 'node:http'
import { GrowingBytes } from '../../quota/growing-bytes.ts'
import { type SlowTransfers, type Transfer, timedRequests } from '../../quota/slow-transfers.ts'
import { headBytes } from '../socket/message-cutter.ts'

/**
 * Minimum bytes of a body whose messages are copied. Otherwise one pending update would keep the whole body in
 * memory.
 */
const copiedBytesMin = 65_536

/** The reason for which a body cannot be read. */
export type BodyProblem = 'disconnected' | 'tooLarge' | 'malformed'

export interface BodyLimits {
  /** Maximum bytes of the body that are kept. */
  readonly bytesMax: number
  /** Messages of more bytes are cut to their start. Null: no message is cut. */
  readonly cutBytesMax: number | null
}

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
  readonly #limits: BodyLimits
  readonly #transfers: SlowTransfers
  readonly #reader: BodyReader
  #kept: GrowingBytes
  /** Number of bytes of the cut message that are still to come, and are dropped. */
  #dropBytes = 0
  /** Lengths of the cut messages, by the offset of their start in the kept bytes. */
  readonly #cut = new Map<number, number>()
  transferredBytes = 0
  #state: 'reading' | 'ended' = 'reading'

  /** True while the server does not read the body. */
  isPaused = true

  constructor(request: IncomingMessage, limits: BodyLimits, transfers: SlowTransfers, reader: BodyReader) {
    this.#request = request
    this.#limits = limits
    this.#kept = new GrowingBytes(limits.bytesMax)
    this.#transfers = transfers
    this.#reader = reader
    timedRequests.add(request)
    transfers.add(this)
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
    this.#kept = new GrowingBytes(0)
  }

  #received(chunk: Buffer): void {
    if (this.#state === 'ended') return
    this.transferredBytes += chunk.length
    const dropped = Math.min(this.#dropBytes, chunk.length)
    this.#dropBytes -= dropped
    this.#kept.add(chunk.subarray(dropped))
    if (this.#kept.length > this.#limits.bytesMax && !this.#cutLast()) return this.#fail('tooLarge')
    this.#reader.received(this.transferredBytes, this.#kept.capacity)
  }

  /** Cuts the incomplete last message to its start. Returns false if it is not too large. */
  #cutLast(): boolean {
    const { bytesMax, cutBytesMax } = this.#limits
    const kept = this.#kept.take()
    const messages = new PostedMessages(kept, this.#cut)
    while (messages.next() !== null);
    const { start, payload, bytes } = messages.last
    const isLarge = cutBytesMax !== null && bytes > cutBytesMax && !this.#cut.has(start)
    if (!isLarge || payload + headBytes > bytesMax) return false
    this.#dropBytes = payload + bytes - kept.length
    this.#cut.set(start, bytes)
    this.#kept = new GrowingBytes(bytesMax)
    this.#kept.add(kept.subarray(0, start))
    this.#kept.add(Buffer.from([(headBytes & 127) | 128, headBytes >> 7]))
    this.#kept.add(kept.subarray(payload, payload + headBytes))
    return true
  }

  #end(): void {
    if (this.#state === 'ended') return
    if (this.#dropBytes > 0) return this.#fail('malformed')
    const body = this.#kept.take()
    this.drop()
    this.#reader.complete(new PostedMessages(body, this.#cut))
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
  readonly #cut: ReadonlyMap<number, number>
  #at = 0
  #last = { start: 0, payload: 0, bytes: 0 }

  /** @param cut lengths of the messages of which the body has only the start, by their offsets */
  constructor(body: Buffer, cut: ReadonlyMap<number, number>) {
    this.#body = body
    this.#cut = cut
  }

  /** Offset of the last message that was read, offset of its payload, and the length before it in bytes. */
  get last(): { readonly start: number; readonly payload: number; readonly bytes: number } {
    return this.#last
  }

  get isEmpty(): boolean {
    return this.#at >= this.#body.length
  }

  /**
   * Removes the next message and returns it, or its start, with its length in bytes. Returns null if the lengths do not
   * fit.
   */
  next(): { readonly message: Buffer; readonly bytes: number } | null {
    const body = this.#body
    const start = this.#at
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
    this.#last = { start, payload: this.#at, bytes: length }
    if (end > body.length) return null
    const message = body.subarray(this.#at, end)
    this.#at = end
    const isCopied = body.length >= copiedBytesMin && length < body.length / 2
    return { message: isCopied ? Buffer.from(message) : message, bytes: this.#cut.get(start) ?? length }
  }
}
