import { ApiError, invalid } from '../../core/base/errors.ts'
import type { NamedSchema } from '../../core/content/schemas/content-schema.ts'
import { CompleteBlocks } from '../../core/content/stream/complete-blocks.ts'
import type { ReplacedIds } from '../../core/content/stream/stream-place.ts'
import { type StreamWriter, writableUnits } from '../../core/content/stream/stream-writing.ts'
import type { WriteRight } from '../../core/directory/write-right.ts'
import type { DocumentAddress } from '../../core/model/address.ts'
import { limitDetails } from '../../core/quota/limits.ts'
import type { EditResult } from '../../core/rooms/edits/edit-conditions.ts'
import { StreamEdits, type StreamedChange } from '../../core/rooms/edits/stream-edits.ts'
import type { ShownWriter } from '../../core/rooms/presence/virtual-users.ts'
import type { RoomRegistry } from '../../core/rooms/registry/room-registry.ts'
import type {
  ContentSize,
  StreamEnding,
  StreamOutcome,
  StreamRecord,
  StreamResult,
} from './stream-records.ts'

/** The state of a stream after one of its updates. */
export interface StreamProgress {
  readonly version: string
  /** Size of the update that clients have received. */
  readonly bytes: number
  /** UTF-16 units of the content that are durable. */
  readonly received: number
}

interface OpenStreamOptions {
  readonly rooms: Pick<RoomRegistry, 'use'>
  readonly address: DocumentAddress
  /** The stream when this connection has begun to write it. */
  readonly record: StreamRecord
  /** The schema that the root must match; null without one. */
  readonly schema: NamedSchema | null
  readonly right: WriteRight
  /** As in `OpenStream`. */
  readonly received: number
  readonly version: string
  /** The caret of the writer in open editors; null if the writer is unknown. */
  readonly caret: ShownWriter | null
  /**
   * Records the ending that the writer has requested, that all content is durable, and its size. If this process dies, a
   * later connection of the writer carries the ending out.
   * @throws ApiError if the writer has lost its permission, or if this connection does not write the stream any more
   */
  readonly beginEnd: (ending: StreamEnding, size: Pick<OpenStream, 'bytes' | 'content'>) => Promise<void>
  /** Reads the ids of the content that the stream replaces. */
  readonly replaced: () => Promise<ReplacedIds>
  /** Returns the error to throw for added content, because the workspace is full; null if it is not full. */
  readonly full: () => Promise<ApiError | null>
}

/**
 * One connection of a writer to its stream. The caller makes one call at a time. An error of a call may leave its
 * outcome unknown; the writer then opens the stream again, and continues at `received`.
 */
export class OpenStream {
  readonly #options: OpenStreamOptions
  readonly #writer: StreamWriter
  readonly #blocks = new CompleteBlocks()
  #received: number
  #bytes: number
  #content: ContentSize
  #version: string
  #working: Promise<unknown> = Promise.resolve()
  readonly #stopped = new AbortController()

  constructor(options: OpenStreamOptions) {
    const { record, received, version } = options
    const { place, client, counter, content } = record
    this.#options = options
    this.#writer = { place, client, counter }
    this.#received = received
    this.#bytes = record.bytes
    // If a process has died, some content is not counted. Each of its units takes at least one byte.
    const uncounted = Math.max(0, received - content.units)
    this.#content = { units: received, bytes: content.bytes + uncounted }
    this.#version = version
  }

  /** UTF-16 units of the content that are durable. */
  get received(): number {
    return this.#received
  }

  /** Version after the last update; at first, the version in which the place was found. */
  get version(): string {
    return this.#version
  }

  /** Sum of the bytes of all updates of the stream that are known to this connection. */
  get bytes(): number {
    return this.#bytes
  }

  /** The size of the content that is durable. */
  get content(): ContentSize {
    return this.#content
  }

  /** Aborted when this connection must not write any more. The reason is an ApiError. */
  get stopped(): AbortSignal {
    return this.#stopped.signal
  }

  /** Returns the number of units of the next text that can be written now. @throws as for `writableUnits` */
  writable = (text: string, isEnd: boolean): number =>
    writableUnits(this.#writer.place, text, isEnd, this.#blocks)

  /** Writes the next part of the content. Resolves when it is durable and sent. @throws as for `StreamEdits.write` */
  async write(text: string): Promise<StreamProgress> {
    const { record, schema, full } = this.#options
    const isFull = await full()
    const { result, version, bytes } = await this.#change(
      (edits, options) =>
        edits.write(record.userId, this.#writer, text, schema, { ...options, full: isFull }),
      Buffer.byteLength(text),
    )
    return { version, bytes, received: result.received }
  }

  /** Records and carries out an ending. Call when all content is durable. Resolves with the result of the stream. */
  async end(ending: StreamEnding): Promise<StreamResult> {
    this.#stopped.signal.throwIfAborted()
    await this.#options.beginEnd(ending, this)
    return this.#carryOut(ending, false)
  }

  /**
   * Carries out an ending that an earlier connection has recorded. If the content was deleted then, and the result was
   * lost, the result counts it. Resolves with the result of the stream.
   */
  carryOut(ending: StreamEnding): Promise<StreamResult> {
    return this.#carryOut(ending, true)
  }

  /** Deletes the replaced content, or the content of the stream. */
  async #carryOut(ending: StreamEnding, isRepeated: boolean): Promise<StreamResult> {
    const { userId, onOverlap = 'report' } = this.#options.record
    if (ending === 'withdraw')
      return this.#result('withdrawn', (edits, options) =>
        edits.withdraw(userId, this.#writer, { ...options, isRepeated }),
      )
    const replaced = await this.#options.replaced()
    const result = await this.#result('done', (edits, options) =>
      edits.replace(userId, this.#writer, replaced, onOverlap, { ...options, isRepeated }),
    )
    return onOverlap === 'fail' && result.overlaps !== undefined
      ? { ...result, outcome: 'overlapped' }
      : result
  }

  /** Rejects all further calls. Resolves when the current call has ended. */
  async stop(reason: ApiError): Promise<void> {
    this.#stopped.abort(reason)
    this.#options.caret?.end()
    await this.#working.catch(() => {})
  }

  async #result(outcome: StreamOutcome, edit: StreamCall): Promise<StreamResult> {
    const { result, version } = await this.#change(edit)
    const { received, deletions, overlaps, overlapCount } = result
    return {
      outcome,
      version,
      received,
      bytes: this.#bytes,
      deletions,
      ...(overlaps && { overlaps }),
      ...(overlapCount && { overlapCount }),
    }
  }

  /** @param added bytes of the content that the change adds, in UTF-8 */
  #change(edit: StreamCall, added = 0): Promise<EditResult<StreamedChange>> {
    this.#stopped.signal.throwIfAborted()
    const { rooms, address, right, record } = this.#options
    const { meta, epoch, generation = 0 } = record
    const cause = { source: 'stream', meta } as const
    const place = { epoch, generation, received: this.#received }
    const options = { expects: 'content', right, cause, ...place } as const
    const working = rooms.use(address, (room) => edit(new StreamEdits(room), options))
    this.#working = working
    return working.then((changed) => {
      this.#received = changed.result.received
      this.#version = changed.version
      this.#bytes += changed.bytes
      this.#content = { units: this.#received, bytes: this.#content.bytes + added }
      this.#options.caret?.move(changed.result.cursor)
      return changed
    })
  }
}

type StreamCall = (
  edits: StreamEdits,
  options: Parameters<StreamEdits['write']>[4],
) => Promise<EditResult<StreamedChange>>

export const takenOver = (): ApiError =>
  new ApiError('crdt/stream-taken-over', 'another connection continues the stream; end this one')

/** The error for a stream that this node must end because it stops. The writer can continue the stream. */
export const serverStopping = (): ApiError =>
  new ApiError('server/stopping', 'the server is stopping; open the stream again')

/** The error for content that arrives when the time of the stream is over. */
export const tooLate = (seconds: number): ApiError =>
  invalid(
    'crdt/stream-limit',
    `the stream has taken more than ${seconds} s; divide the content among several streams`,
    limitDetails('streamSeconds', seconds),
  )
