import * as Y from 'yjs'
import type { OverlapPolicy } from '../../content/merge/overlap.ts'
import type { ReplacementResult } from '../../content/replacement-result.ts'
import { type NamedSchema, schemaOf } from '../../content/schemas/content-schema.ts'
import { placeRemoved } from '../../content/stream/stream-blocks.ts'
import type { ReplacedIds } from '../../content/stream/stream-place.ts'
import {
  changesStructure,
  receivedUnits,
  replacedUnits,
  type StreamWriter,
  stepInCopy,
  streamCursor,
  streamGap,
  type WriterStep,
  writeStreamed,
} from '../../content/stream/stream-writing.ts'
import { DocumentState } from '../document/document-state.ts'
import type { Room } from '../room/room.ts'
import { headConflict } from '../room/room-errors.ts'
import { failUnlessRejected, makeChange, type ProposedChange } from './backend-change.ts'
import {
  beginEdit,
  chargedToRest,
  checkDocumentSize,
  type EditPrecondition,
  type EditResult,
  noContent,
  readDurable,
} from './edit-conditions.ts'
import { inlineSizeMax } from './replacement.ts'

/** The effect of a change of a stream. */
export interface StreamedChange extends ReplacementResult {
  /** UTF-16 units of the content of the stream that the document contains after the change. */
  readonly received: number
  /** The position of the next content. */
  readonly cursor: Y.RelativePosition
}

/**
 * Maximum UTF-16 units of Markdown that are parsed on the event loop. Some blocks of this length take 20 ms, and the time
 * grows with the square of the length.
 */
const parsedInPlaceMax = 4_096
/** Maximum bytes of a UTF-16 unit in UTF-8. */
const bytesPerUnit = 3

/**
 * Writes the content of streams to one open document. A stream inserts at a place that stays the same place after any
 * update of others, and deletes content by its ids. Therefore its changes are applied at once, and never computed
 * again. New blocks in a large document, and blocks of much Markdown, are computed on a thread.
 */
export class StreamEdits {
  readonly #room: Room

  constructor(room: Room) {
    this.#room = room
  }

  /**
   * Writes the next part of the content. The user `by` is its author. Resolves when the change is durable and sent.
   * @param text well-formed Unicode
   * @throws ApiError as for `beginEdit` and `writeStreamed`; NOT_FOUND if the document was created again;
   * FAILED_PRECONDITION if the document lacks acknowledged content; INVALID_ARGUMENT if it would be too large
   */
  write(
    by: string,
    writer: StreamWriter,
    text: string,
    named: NamedSchema | null,
    options: StreamOptions,
  ): Streaming {
    const room = this.#room
    const schema = named === null ? null : schemaOf(named)
    const protects = options.right?.protects ?? []
    const step: WriterStep = { is: 'write', text, schema: named, protects }
    const mayBeLarge = writer.place.as === 'blocks' && room.dependencies.threads.enabled
    return this.#change(by, writer, options, {
      step,
      prepare: () => {
        this.#checkRoom(text, options)
        const changes = changesStructure(room.state.doc, writer, text)
        if (changes && mayBeLarge && this.#isLarge(writer, text)) return null
        if (changes && named !== null) this.#checkSchema(writer, step)
        return (doc) => writeStreamed(doc, writer, text, schema)
      },
    })
  }

  /** @throws ApiError INVALID_ARGUMENT if the document would be too large; `options.full` */
  #checkRoom(text: string, { full = null }: StreamOptions): void {
    checkDocumentSize(this.#room, text.length * bytesPerUnit)
    if (text !== '' && full !== null) throw full
  }

  #isLarge({ place }: StreamWriter, text: string): boolean {
    const { state } = this.#room
    const isMarkdown = place.as === 'blocks' && place.format === 'markdown'
    if (isMarkdown && text.length > parsedInPlaceMax) return true
    return state.isExpensive || state.sizeBytes + text.length > inlineSizeMax
  }

  /** Makes a change in a working copy, and checks the schema. @throws ApiError INVALID_ARGUMENT */
  #checkSchema(writer: StreamWriter, step: WriterStep): void {
    const copy = DocumentState.fromBytes(this.#room.state.encode())
    try {
      copy.edit(() => stepInCopy(copy.doc, writer, step))
    } finally {
      copy.doc.destroy()
    }
  }

  /**
   * Makes a change on a thread. Only this stream writes with its clients, so the update stays valid after updates of
   * others.
   */
  async #onThread(
    writer: StreamWriter,
    step: WriterStep,
    finish: NonNullable<StreamSteps['finish']>,
    options: StreamOptions,
  ): Promise<ProposedChange<StreamedChange>> {
    const text = step.is === 'write' ? step.text : ''
    const room = this.#room
    const { state } = room
    const received = (): number => receivedUnits(writer, (client) => state.clocks.get(client) ?? 0)
    if (step.is === 'write') this.#checkRoom(text, options)
    const before = received()
    const { change, update } = await room.dependencies.threads.use(room.address, async (thread) => {
      beginEdit(room, options)
      const updates = await room.updatesOf(room.commits.version, true)
      return thread.run({ is: 'stream', updates, writer, step })
    })
    return {
      update,
      result: () => ({
        ...finish(change),
        received: before + text.length,
        cursor: streamCursor(state.doc, writer),
      }),
      isCurrent: () => {
        this.#begin(writer, options)
        if (received() !== before) throw headConflict()
        return true
      },
      apply: () => (update === null ? null : state.integrateOwn(update)),
    }
  }

  /** Deletes the replaced content, as the step `replace`. Resolves when the change is durable and sent. */
  replace(
    by: string,
    writer: StreamWriter,
    replaced: ReplacedIds,
    onOverlap: OverlapPolicy,
    options: EndOptions,
  ): Streaming {
    const { isRepeated } = options
    return this.#change(by, writer, options, {
      step: { is: 'replace', replaced, onOverlap, isRepeated },
      finish: (result) => withEarlierDeletions(result, options, () => replacedUnits(replaced)),
    })
  }

  /** Deletes the content of the stream. Resolves when the change is durable and sent. */
  withdraw(by: string, writer: StreamWriter, options: EndOptions): Streaming {
    const written = (): number => this.#room.state.clocks.get(writer.client) ?? 0
    return this.#change(by, writer, options, {
      step: { is: 'withdraw' },
      finish: (result) => withEarlierDeletions(result, options, written),
    })
  }

  /**
   * Returns how much of the content of the stream is durable, and the current version.
   * @throws ApiError UNAVAILABLE
   */
  async received(
    writer: StreamWriter,
  ): Promise<
    Pick<StreamedChange, 'received' | 'cursor'> & { readonly version: string; readonly epoch: number }
  > {
    const { state, commits } = this.#room
    const { result, version } = await readDurable(this.#room, () => ({
      received: receivedUnits(writer, (client) => state.clocks.get(client) ?? 0),
      cursor: streamCursor(state.doc, writer),
      epoch: commits.epoch,
    }))
    return { ...result, version }
  }

  /** @throws ApiError as for `beginEdit`; if this is not the document for which the stream was opened */
  #begin(writer: StreamWriter, options: StreamOptions): void {
    const { commits, generations, state } = this.#room
    beginEdit(this.#room, options)
    // The document may have been deleted and created again since the stream was opened.
    if (commits.epoch !== options.epoch) throw noContent()
    if (generations.count !== options.generation) throw placeRemoved()
    const present = receivedUnits(writer, (client) => state.clocks.get(client) ?? 0)
    if (present < options.received) throw streamGap(options.received, present)
  }

  #change(
    by: string,
    writer: StreamWriter,
    options: StreamOptions,
    {
      step,
      finish = (result) => result,
      prepare = () => (doc) => stepInCopy(doc, writer, step),
    }: StreamSteps,
  ): Streaming {
    const room = this.#room
    return makeChange(room, {
      by,
      options,
      prepare: () => room.share(),
      inPlace: () => {
        this.#begin(writer, options)
        const change = prepare()
        if (change === null) return null
        return chargedToRest(room, () => {
          const { result, added } = failUnlessRejected(room, () => room.state.edit(change))
          const { store } = room.state.doc
          const received = receivedUnits(writer, (client) => Y.getState(store, client))
          const cursor = streamCursor(room.state.doc, writer)
          return { added, result: () => ({ ...finish(result), received, cursor }) }
        })
      },
      compute: () => this.#onThread(writer, step, finish, options),
      computed: (when) => {
        const mode = when === 'first' ? 'thread' : 'thread_locked'
        room.dependencies.metrics.replacements.inc({ mode })
      },
    })
  }
}

interface StreamSteps {
  readonly step: WriterStep
  /** Completes the result of the change. */
  readonly finish?: (result: ReplacementResult) => ReplacementResult
  /**
   * Checks the change, and returns the function that makes it. Returns null, and changes nothing, if the change must be
   * computed. Default: makes the step.
   */
  readonly prepare?: () => ((doc: Y.Doc) => ReplacementResult) | null
}

interface StreamOptions extends Omit<EditPrecondition, 'expects' | 'isCopy' | 'ifVersion' | 'making'> {
  readonly expects: 'content'
  /** Epoch of the log for which the place of the stream was found. */
  readonly epoch: number
  /** Number of prunes after which the place of the stream was found. */
  readonly generation: number
  /** UTF-16 units of the content that were acknowledged to the writer. */
  readonly received: number
}

interface EndOptions extends StreamOptions {
  /** True if the ending was recorded before, so that the content may be deleted already. */
  readonly isRepeated: boolean
  /** As in `RestoreOptions`. */
  readonly dryRun?: boolean
}

/** Returns a result that also counts content that was deleted before. */
const withEarlierDeletions = (
  result: ReplacementResult,
  { isRepeated }: EndOptions,
  deletedBefore: () => number,
): ReplacementResult =>
  isRepeated && result.deletions === 0 ? { ...result, deletions: deletedBefore() } : result

type Streaming = Promise<EditResult<StreamedChange>>
