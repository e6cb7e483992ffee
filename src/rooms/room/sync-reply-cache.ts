import * as Y from 'yjs'
import { joinUpdates } from '../../update/join-updates.ts'
import type { DocumentState } from './document-state.ts'

/** Bytes of a state from which its frame is shared: below, making one costs less than remembering it. */
const sharedFrom = 65_536

/** Makes frames of the answer to a state vector. */
export interface SyncReplyEncoder {
  /** Of the answer itself. */
  offer(bytes: Uint8Array): Uint8Array
  /** Of an update that comes before it: a client that has got the answer takes the document for complete. */
  update(bytes: Uint8Array): Uint8Array
}

interface Whole {
  readonly encoder: SyncReplyEncoder
  readonly frame: WeakRef<Uint8Array>
  /** What the frame was made of. */
  readonly bytes: WeakRef<Uint8Array>
  /** Of the state that the frame holds; null: it holds less than the state did. */
  readonly held: { readonly revision: number; readonly vector: Uint8Array } | null
}

/**
 * Frames that answer state vectors. Who comes with nothing gets the whole document, and after a start everybody comes at
 * once: they get one frame, not one each, and before it another one with what has changed since. The frame is as large as the
 * document, so that only those keep it to whom it is being sent.
 */
export class SyncReplyCache {
  readonly #state: DocumentState
  #whole: Whole | null = null

  constructor(state: DocumentState) {
    this.#state = state
  }

  /** What somebody with this state vector lacks, as frames in order; not to be changed. */
  framesFor(encoder: SyncReplyEncoder, vector: Uint8Array): readonly Uint8Array[] {
    if (vector.length > 1) return [encoder.offer(this.#state.diff(vector))]
    const parts = this.#state.parts
    if (parts === null)
      return this.#sharedFrames(encoder) ?? [this.#frameOf(this.#state.encode(), encoder, true)]
    // Without the work of making a Y.Doc.
    const { bytes, waiting } = parts
    if (waiting !== null && bytes.length < sharedFrom) return [encoder.offer(joined(bytes, waiting))]
    const frame = this.#sharedFrame(encoder, bytes) ?? this.#frameOf(bytes, encoder, waiting === null)
    return waiting === null ? [frame] : [encoder.update(waiting), frame]
  }

  /** The frame of these bytes that others are being sent. */
  #sharedFrame(encoder: SyncReplyEncoder, bytes: Uint8Array): Uint8Array | undefined {
    if (this.#whole?.encoder !== encoder || this.#whole.bytes.deref() !== bytes) return undefined
    return this.#whole.frame.deref()
  }

  /** The frame that others are being sent, and what has changed since; null: there is none, or too much has changed. */
  #sharedFrames(encoder: SyncReplyEncoder): readonly Uint8Array[] | null {
    if (this.#whole?.encoder !== encoder) return null
    const { held } = this.#whole
    const frame = this.#whole.frame.deref()
    if (frame === undefined || held === null) return null
    if (held.revision === this.#state.revision) return [frame]
    const changes = this.#state.diff(held.vector)
    return changes.length > frame.length / 8 ? null : [encoder.update(changes), frame]
  }

  #frameOf(bytes: Uint8Array, encoder: SyncReplyEncoder, isAll: boolean): Uint8Array {
    const frame = encoder.offer(bytes)
    if (bytes.length < sharedFrom) return frame
    const held = isAll ? { revision: this.#state.revision, vector: this.#state.vector() } : null
    this.#whole = { encoder, held, frame: new WeakRef(frame), bytes: new WeakRef(bytes) }
    return frame
  }
}

/** One whole state, by copying if that is possible. */
const joined = (bytes: Uint8Array, waiting: Uint8Array): Uint8Array =>
  joinUpdates([bytes, waiting])?.bytes ?? Y.mergeUpdates([bytes, waiting])
