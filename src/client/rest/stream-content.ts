import { pauseAfter } from '../../core/base/backoff.ts'
import type {
  CrdtEditDataOverlapsItem,
  CrdtEditRequest,
  CrdtEditRequestEditsItemInsert,
  CrdtEditRequestEditsItemReplace,
} from '../api/operation-types.ts'
import type { Result, WeftFailure } from '../api/result.ts'
import type { Settings } from './client-options.ts'
import { pause } from './deadline.ts'
import { clientFailure, resultOf } from './read-response.ts'

/** The opening of a stream: its place and its author. */
export interface ContentStreamOpening
  extends Pick<
    CrdtEditRequest,
    | 'organizationId'
    | 'documentId'
    | 'editorId'
    | 'contentKey'
    | 'baseVersion'
    | 'onOverlap'
    | 'schema'
    | 'userId'
    | 'meta'
  > {
  /** The edit whose content follows: exactly one of the members. */
  readonly edit: {
    readonly insert?: Omit<CrdtEditRequestEditsItemInsert, 'content' | 'format'>
    readonly replace?: Omit<CrdtEditRequestEditsItemReplace, 'with' | 'format'>
  }
  /** Format of the content. Default: `text`. */
  readonly format?: 'text' | 'markdown'
  /** Id of the stream. Default: a new one. */
  readonly streamId?: string
  /** Name of the writer at its caret. */
  readonly name?: string
}

/** The state of a stream after an update. */
export interface ContentStreamProgress {
  readonly version: string
  /** UTF-16 units of the content that are durable. */
  readonly received: number
}

export interface ContentStreamOptions {
  /** Ends the stream; its result then has the code `client/aborted`, and the content that is durable stays. */
  readonly signal?: AbortSignal | undefined
  /** Called after updates. */
  readonly onProgress?: ((progress: ContentStreamProgress) => void) | undefined
}

/** A piece of a stream: text, or the removal of all text of the stream, which ends it. */
export type ContentStreamPiece = string | { readonly withdraw: true }

/** The result of a stream that has ended. */
export interface ContentStreamDone {
  /** `withdrawn`: the last piece has removed the text of the stream. */
  readonly outcome: 'done' | 'withdrawn'
  readonly version: string
  readonly received: number
  /** Sum of the bytes of all updates that clients have received. */
  readonly bytes: number
  readonly deletions: number
  /** Replaced words that others have changed; absent if there are none. */
  readonly overlaps?: readonly CrdtEditDataOverlapsItem[]
}

/** Maximum UTF-16 units that wait for their acknowledgment. It is larger than a block of Markdown. */
const waitingMax = 262_144
/** Maximum UTF-16 units of one line. */
const lineUnits = 16_384
/** Pauses after failures without progress. */
const pauses = { firstMs: 200, maxMs: 5_000 }

/** Sends pieces as a stream. Connects again after a broken connection, and continues at the durable content. */
export async function streamContent(
  settings: Settings,
  opening: ContentStreamOpening,
  pieces: AsyncIterable<ContentStreamPiece> | Iterable<ContentStreamPiece>,
  { signal, onProgress }: ContentStreamOptions = {},
): Promise<Result<ContentStreamDone>> {
  const named = { ...opening, streamId: opening.streamId ?? crypto.randomUUID() }
  const source = new PieceBuffer(pieces)
  const ended = new AbortController()
  const abort = (): void => ended.abort()
  signal?.addEventListener('abort', abort)
  if (signal?.aborted === true) abort()
  try {
    for (let failures = 0; ; failures += 1) {
      const before = source.acknowledged
      const result = await connect(settings, named, source, ended.signal, onProgress)
      if (source.error !== null) throw source.error
      if (result.ok) return result
      if (signal?.aborted === true) return clientFailure('client/aborted', 'the stream was aborted')
      if (source.acknowledged > before) failures = 0
      if (!isPassing(result.error) || failures >= settings.retries) return result
      await pause(pauseAfter(pauses, failures + 1), signal)
    }
  } finally {
    ended.abort()
    signal?.removeEventListener('abort', abort)
    await source.close()
  }
}

/** Errors after which the stream can continue on another connection. */
const isPassing = ({ status, code }: WeftFailure): boolean =>
  status === 'UNAVAILABLE' || code === 'crdt/document-changed' || code === 'crdt/invalid-stream'

/** Sends the pieces on one connection, until the end of the stream or a failure. */
async function connect(
  settings: Settings,
  opening: object,
  source: PieceBuffer,
  signal: AbortSignal,
  onProgress: ContentStreamOptions['onProgress'],
): Promise<Result<ContentStreamDone>> {
  const over = new AbortController()
  const stop = (): void => {
    over.abort()
    source.wake()
  }
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  try {
    const init = {
      method: 'POST',
      redirect: 'manual',
      headers: { ...settings.credentials, 'content-type': 'application/x-ndjson' },
      body: bodyOf(opening, source, over.signal),
      duplex: 'half',
      signal: over.signal,
    } as const
    const response = await settings.fetch(`${settings.url}/v2/crdt/stream`, init)
    for await (const line of linesOf(response)) {
      const value = JSON.parse(line) as {
        readonly opened?: { readonly received: number }
        readonly received?: number
        readonly version?: string
        readonly done?: ContentStreamDone
        readonly error?: unknown
      }
      if (value.error !== undefined) {
        const failed = resultOf(
          { path: '/v2/crdt/edit', effect: 'once', bare: true, pages: null },
          response,
          line,
        )
        return failed?.ok === false ? failed : invalidResponse()
      }
      if (value.done !== undefined) return { ok: true, data: value.done, message: 'Content streamed.' }
      const { opened, received, version } = value
      if (opened !== undefined) source.acknowledge(opened.received)
      if (received === undefined || version === undefined) continue
      source.acknowledge(received)
      onProgress?.({ received, version })
    }
    return invalidResponse()
  } catch (error) {
    return clientFailure('client/unreachable', error instanceof Error ? error.message : String(error))
  } finally {
    stop()
    signal.removeEventListener('abort', stop)
  }
}

const invalidResponse = (): Result<never> =>
  clientFailure('client/invalid-response', 'the response ended before the end of the stream')

/** Returns the body of one connection: the opening, all content that is not acknowledged, and the end. */
function bodyOf(opening: object, source: PieceBuffer, signal: AbortSignal): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const line = (value: object): Uint8Array => encoder.encode(`${JSON.stringify(value)}\n`)
  let at = source.acknowledged
  let isOpened = false
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (!isOpened) {
          isOpened = true
          return controller.enqueue(line(opening))
        }
        const next = await source.read(at, lineUnits, signal)
        if (next !== null) {
          controller.enqueue(line(next))
          at = next.at + next.text.length
          return
        }
        if (signal.aborted) return controller.error(new Error('the connection has ended'))
        controller.enqueue(line(source.isWithdrawn ? { withdraw: true } : { end: true }))
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}

/** Yields the lines of a response that are not empty. */
async function* linesOf({ body }: Response): AsyncGenerator<string, void> {
  if (body === null) return
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      const lines = (rest + (value === undefined ? '' : decoder.decode(value, { stream: true }))).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line !== '') yield line
      if (done) break
    }
    if (rest !== '') yield rest
  } finally {
    reader.cancel().catch(() => {})
  }
}

/** The pieces that are not acknowledged. Reads the next ones only while there is room for them. */
class PieceBuffer {
  /** UTF-16 units that the server has stored. */
  acknowledged = 0
  /** The error of the pieces; null if there is none. */
  error: unknown = null
  /** True if the last piece removes the text of the stream. */
  isWithdrawn = false
  readonly #iterator: AsyncIterator<ContentStreamPiece> | Iterator<ContentStreamPiece>
  #text = ''
  /** UTF-16 units of the next pieces that are acknowledged before they are read. */
  #skipped = 0
  #isEnded = false
  #isReading = false
  #waiting: (() => void)[] = []

  constructor(pieces: AsyncIterable<ContentStreamPiece> | Iterable<ContentStreamPiece>) {
    this.#iterator =
      Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]()
  }

  /**
   * Returns the text from a position, or from the first text that is not acknowledged; null at the end of the pieces, or
   * when the signal is aborted. After an abort, the caller must call `wake`.
   */
  async read(
    at: number,
    unitsMax: number,
    signal: AbortSignal,
  ): Promise<{ readonly text: string; readonly at: number } | null> {
    for (;;) {
      if (signal.aborted) return null
      const from = Math.max(0, at - this.acknowledged)
      if (from < this.#text.length)
        return { text: this.#text.slice(from, from + unitsMax), at: this.acknowledged + from }
      if (this.#isEnded) {
        if (this.error === null) return null
        throw this.error
      }
      if (this.#text.length < waitingMax && !this.#isReading) void this.#readNext()
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  /** Removes the text before a position. A program that continues a stream may not have read all of it. */
  acknowledge(units: number): void {
    const added = units - this.acknowledged
    if (added <= 0) return
    this.#skipped += Math.max(0, added - this.#text.length)
    this.#text = this.#text.slice(added)
    this.acknowledged = units
    this.wake()
  }

  /** Lets readers check their signals again. */
  wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  async close(): Promise<void> {
    if (!this.#isEnded) void Promise.resolve(this.#iterator.return?.()).catch(() => {})
  }

  async #readNext(): Promise<void> {
    this.#isReading = true
    try {
      const { done, value } = await this.#iterator.next()
      if (done === true) this.#isEnded = true
      else if (typeof value === 'string') this.#add(value)
      else await this.#withdraw()
    } catch (error) {
      this.error = error
      this.#isEnded = true
    }
    this.#isReading = false
    this.wake()
  }

  #add(piece: string): void {
    const skipped = Math.min(this.#skipped, piece.length)
    this.#skipped -= skipped
    this.#text += piece.slice(skipped)
  }

  /** Ends the pieces. The text that has not been sent is not necessary. */
  async #withdraw(): Promise<void> {
    this.isWithdrawn = true
    this.#isEnded = true
    this.#text = ''
    await this.#iterator.return?.()
  }
}
