import * as Y from 'yjs'
import type { ReplacementResult } from '../../content/replacement-result.ts'
import { checkAgainstSchema, type NamedSchema, schemaOf } from '../../content/schemas/content-schema.ts'
import { streamCursor } from '../../content/stream/stream-cursor.ts'
import type { ReplacedIds } from '../../content/stream/stream-place.ts'
import {
  deleteReplaced,
  deleteStreamed,
  receivedUnits,
  type StreamWriter,
  writeStreamed,
} from '../../content/stream/stream-writing.ts'
import { DocumentState } from '../room/document-state.ts'
import { failUnlessRejected, makeChange } from './backend-change.ts'
import {
  beginEdit,
  checkDocumentSize,
  type EditContext,
  type EditPrecondition,
  type EditResult,
  readDurable,
} from './edit-context.ts'

/** The effect of a change of a stream. */
export interface StreamedChange extends ReplacementResult {
  /** UTF-16 units of the content of the stream that the document contains after the change. */
  readonly received: number
  /** The position of the next content. */
  readonly cursor: Y.RelativePosition
}

/** Maximum bytes of a UTF-16 unit in UTF-8. */
const bytesPerUnit = 3

/**
 * Writes the content of streams to one open document. A stream inserts at a place that stays the same place after any
 * update of others, and deletes content by its ids. Therefore its changes are applied at once, and never computed
 * again.
 */
export class StreamEdits {
  readonly #room: EditContext

  constructor(room: EditContext) {
    this.#room = room
  }

  /**
   * Writes the next part of the content. The user `by` is its author. Resolves when the change is durable and sent.
   * @param text well-formed Unicode
   * @throws ApiError as for `beginEdit` and `writeStreamed`; INVALID_ARGUMENT if the document would be too large
   */
  write(
    by: string,
    writer: StreamWriter,
    text: string,
    named: NamedSchema | null,
    options: StreamOptions,
  ): Streaming {
    const schema = named === null ? null : schemaOf(named)
    return this.#change(by, writer, options, () => {
      checkDocumentSize(this.#room, text.length * bytesPerUnit)
      if (text !== '' && options.full !== null && options.full !== undefined) throw options.full
      const write = (doc: Y.Doc): ReplacementResult => writeStreamed(doc, writer, text, schema)
      if (named !== null && writer.place.as === 'blocks') this.#checkSchema(writer, named, write)
      return write
    })
  }

  /** Makes a change in a working copy, and checks the schema. @throws ApiError INVALID_ARGUMENT */
  #checkSchema(
    { place: { contentKey } }: StreamWriter,
    named: NamedSchema,
    write: (doc: Y.Doc) => ReplacementResult,
  ): void {
    const copy = DocumentState.fromBytes(this.#room.state.encode())
    try {
      copy.edit(write)
      checkAgainstSchema(copy.doc, contentKey, schemaOf(named), named.name)
    } finally {
      copy.doc.destroy()
    }
  }

  /** Deletes the content that the stream replaces. Resolves when the change is durable and sent. */
  replace(by: string, writer: StreamWriter, replaced: ReplacedIds, options: StreamOptions): Streaming {
    return this.#change(by, writer, options, () => (doc) => deleteReplaced(doc, writer.place, replaced))
  }

  /** Deletes the content of the stream. Resolves when the change is durable and sent. */
  withdraw(by: string, writer: StreamWriter, options: StreamOptions): Streaming {
    return this.#change(by, writer, options, () => (doc) => deleteStreamed(doc, writer))
  }

  /**
   * Returns how much of the content of the stream is durable, and the current version. The result contains every
   * update that any node has acknowledged before the call.
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

  /** @param prepare checks the change, and returns the function that makes it */
  #change(
    by: string,
    writer: StreamWriter,
    options: StreamOptions,
    prepare: () => (doc: Y.Doc) => ReplacementResult,
  ): Streaming {
    const room = this.#room
    return makeChange(room, {
      by,
      options,
      needsHead: false,
      firstPause: 'never',
      prepare: () => room.share(),
      inPlace: () => {
        beginEdit(room, options)
        const change = prepare()
        return room.charged(1, () => {
          const { result, added } = failUnlessRejected(room, () => room.state.edit(change))
          const { store } = room.state.doc
          const received = receivedUnits(writer, (client) => Y.getState(store, client))
          const cursor = streamCursor(room.state.doc, writer)
          return { added, result: () => ({ ...result, received, cursor }) }
        })
      },
      compute: () => Promise.reject(new TypeError('a change of a stream is always made in place')),
    })
  }
}

type StreamOptions = Omit<EditPrecondition, 'expects' | 'isCopy' | 'ifVersion' | 'making'> & {
  readonly expects: 'content'
}

type Streaming = Promise<EditResult<StreamedChange>>
