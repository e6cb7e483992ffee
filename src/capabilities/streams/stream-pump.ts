import { setImmediate as nextTick, setTimeout as pause } from 'node:timers/promises'
import { type ApiError, invalid } from '../../core/base/errors.ts'
import { streamGap } from '../../core/content/stream/stream-writing.ts'
import { limitDetails } from '../../core/quota/limits.ts'
import type { OpenStream, StreamProgress } from './open-stream.ts'

/** Minimum time in ms between the starts of two updates of a stream. Pieces that arrive in between are one update. */
const updateMs = 50
/** Number of UTF-16 units that wait to be written, above which the writer must wait. */
const waitingUnitsMax = 65_536

/** Writes the pieces of a stream as updates, one after the other. */
export class StreamPump {
  readonly #stream: OpenStream
  /** Maximum bytes of the content in UTF-8. */
  readonly #bytesMax: number
  /** Called when an update is durable and sent. @param bytes bytes of its content in UTF-8 */
  readonly #written: (progress: StreamProgress, bytes: number) => void
  /** Called once, when an update has failed, unless the text is discarded. Nothing is written afterwards. */
  readonly #failed: (error: unknown) => void
  #text = ''
  /** UTF-16 units of the content that were accepted so far. */
  #accepted: number
  #bytes: number
  #startedAt = Number.NEGATIVE_INFINITY
  #writing: Promise<void> | null = null
  /** The error of an update; null if none has failed. */
  #failure: { readonly error: unknown } | null = null
  #isDiscarding = false
  #whenRoom: (() => void)[] = []

  constructor(
    stream: OpenStream,
    bytesMax: number,
    written: (progress: StreamProgress, bytes: number) => void,
    failed: (error: unknown) => void,
  ) {
    this.#stream = stream
    this.#bytesMax = bytesMax
    this.#written = written
    this.#failed = failed
    this.#accepted = stream.received
    this.#bytes = stream.content.bytes
  }

  /** True if the writer must wait for `room` before it sends more. */
  get isFull(): boolean {
    return this.#text.length > waitingUnitsMax && this.#failure === null
  }

  /**
   * Accepts a piece.
   * @param at UTF-16 units of the content before the piece; undefined: the piece follows the previous one. The part of
   * the piece that was accepted before is skipped
   * @throws ApiError FAILED_PRECONDITION if content is missing before the piece; INVALID_ARGUMENT if the content is too
   * large
   */
  push(piece: string, at = this.#accepted): void {
    if (at > this.#accepted) throw streamGap(at, this.#accepted)
    const text = piece.slice(this.#accepted - at)
    if (text === '') return
    this.#bytes += Buffer.byteLength(text)
    if (this.#bytes > this.#bytesMax) throw tooLarge(this.#bytesMax)
    this.#text += text
    this.#accepted += text.length
    this.#start()
  }

  /** Resolves when the pump is not full. */
  room(): Promise<void> {
    return this.isFull ? new Promise((resolve) => this.#whenRoom.push(resolve)) : Promise.resolve()
  }

  /**
   * Writes everything that was accepted, as the end of the content. Resolves when it is durable and sent.
   * @throws the error of an update that has failed; some content is then not durable
   */
  async flush(): Promise<void> {
    await this.settle()
    if (this.#text !== '') {
      const text = this.#take(true)
      if (text !== '') await this.#write(text)
    }
    if (this.#failure !== null) throw this.#failure.error
  }

  /**
   * Writes the accepted content that later content cannot change. Resolves when it is durable and sent.
   * @throws as for `flush`
   */
  async settle(): Promise<void> {
    while (this.#writing !== null) await this.#writing
    if (this.#failure !== null) throw this.#failure.error
  }

  /**
   * Discards everything that was accepted and that no update contains yet. Resolves when no update runs any more. The
   * failure of an update is then not reported.
   * @throws the error of an update that has failed before
   */
  async discard(): Promise<void> {
    if (this.#failure !== null) throw this.#failure.error
    this.#isDiscarding = true
    this.#text = ''
    while (this.#writing !== null) await this.#writing
  }

  #start(): void {
    this.#writing ??= this.#run()
  }

  async #run(): Promise<void> {
    // The pieces of one chunk of the body are one update.
    await nextTick()
    while (this.#failure === null) {
      const waitMs = this.#startedAt + updateMs - performance.now()
      if (waitMs > 0) await pause(waitMs)
      const text = this.#take(false)
      if (text === '') break
      await this.#write(text)
    }
    this.#writing = null
  }

  /** Removes the text that can be written now. Returns '' if there is none, or if it is not valid. */
  #take(isEnd: boolean): string {
    const text = this.#text
    try {
      const units = this.#stream.writable(text, isEnd)
      this.#text = text.slice(units)
      return text.slice(0, units).toWellFormed()
    } catch (error) {
      this.#fail(error)
      return ''
    }
  }

  #fail(error: unknown): void {
    this.#failure = { error }
    if (!this.#isDiscarding) this.#failed(error)
    for (const resolve of this.#whenRoom.splice(0)) resolve()
  }

  async #write(text: string): Promise<void> {
    this.#startedAt = performance.now()
    try {
      const progress = await this.#stream.write(text)
      this.#written(progress, Buffer.byteLength(text))
    } catch (error) {
      this.#fail(error)
    }
    if (this.isFull) return
    for (const resolve of this.#whenRoom.splice(0)) resolve()
  }
}

const tooLarge = (bytesMax: number): ApiError =>
  invalid(
    'crdt/stream-limit',
    `the content of the stream has more than ${bytesMax} bytes; divide it among several streams`,
    limitDetails('streamBytes', bytesMax),
  )
