import * as Y from 'yjs'
import type { StoredRange } from '../../content/edit/edit-dependencies.ts'
import type { ReplacementResult } from '../../content/replacement-result.ts'
import {
  deleteReplaced,
  deleteStreamed,
  receivedUnits,
  type StreamWriter,
  writeStreamText,
} from '../../content/stream/stream-text.ts'
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
   * @throws ApiError as for `beginEdit` and `writeStreamText`; INVALID_ARGUMENT if the document would be too large
   */
  write(by: string, writer: StreamWriter, text: string, options: StreamOptions): Streaming {
    return this.#change(by, writer, options, () => {
      checkDocumentSize(this.#room, text.length * bytesPerUnit)
      if (text !== '' && options.full !== null && options.full !== undefined) throw options.full
      return (doc) => writeStreamText(doc, writer, text)
    })
  }

  /** Deletes the content that the stream replaces. Resolves when the change is durable and sent. */
  replace(
    by: string,
    writer: StreamWriter,
    replaced: readonly StoredRange[],
    options: StreamOptions,
  ): Streaming {
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
  async received({
    client,
    place,
  }: StreamWriter): Promise<{ readonly received: number; readonly version: string; readonly epoch: number }> {
    const { state, commits } = this.#room
    const { result, version } = await readDurable(this.#room, () => ({
      received: receivedUnits(state.clocks.get(client) ?? 0, place),
      epoch: commits.epoch,
    }))
    return { ...result, version }
  }

  /** @param prepare checks the change, and returns the function that makes it */
  #change(
    by: string,
    { client, place }: StreamWriter,
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
          const clock = Y.getState(room.state.doc.store, client)
          return { added, result: () => ({ ...result, received: receivedUnits(clock, place) }) }
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
