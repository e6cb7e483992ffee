import * as Y from 'yjs'
import { joinUpdates } from '../../update/join-updates.ts'
import type { DocumentState } from './document-state.ts'

/** Bytes of a state from which its frame is shared: below, making one costs less than remembering it. */
const sharedFrom = 65_536

/** Encodes the reply to a state vector as frames. */
export interface SyncReplyEncoder {
  /** Encodes the reply itself. */
  offer(bytes: Uint8Array): Uint8Array
  /**
   * Encodes an update that precedes the reply: a client that has received the reply takes the document for complete.
   */
  update(bytes: Uint8Array): Uint8Array
}

interface Whole {
  readonly encoder: SyncReplyEncoder
  readonly frame: WeakRef<Uint8Array>
  /** The bytes that the frame was encoded from. */
  readonly bytes: WeakRef<Uint8Array>
  /** The state that the frame contains; null: it contains only a part of the state. */
  readonly held: { readonly revision: number; readonly vector: Uint8Array } | null
}

/**
 * The cache of replies to state vectors. A new client receives the whole document, and after a restart all clients
 * connect simultaneously. They share one frame of the document, preceded by a frame of the changes since. The frame is
 * as large as the document, so only its current receivers keep it alive.
 */
export class SyncReplyCache {
  readonly #state: DocumentState
  #whole: Whole | null = null

  constructor(state: DocumentState) {
    this.#state = state
  }

  /** Returns the frames that a client with this state vector lacks, in order. The caller must not change them. */
  framesFor(encoder: SyncReplyEncoder, vector: Uint8Array): readonly Uint8Array[] {
    if (vector.length > 1) return [encoder.offer(this.#state.diff(vector))]
    const parts = this.#state.parts
    if (parts === null)
      return this.#sharedFrames(encoder) ?? [this.#frameOf(this.#state.encode(), encoder, true)]
    // This does not create a Y.Doc.
    const { bytes, waiting } = parts
    if (waiting !== null && bytes.length < sharedFrom) return [encoder.offer(joined(bytes, waiting))]
    const frame = this.#sharedFrame(encoder, bytes) ?? this.#frameOf(bytes, encoder, waiting === null)
    return waiting === null ? [frame] : [encoder.update(waiting), frame]
  }

  /** Returns the frame of these bytes, if it is still being sent to other clients. */
  #sharedFrame(encoder: SyncReplyEncoder, bytes: Uint8Array): Uint8Array | undefined {
    if (this.#whole?.encoder !== encoder || this.#whole.bytes.deref() !== bytes) return undefined
    return this.#whole.frame.deref()
  }

  /**
   * Returns the frame that other clients are receiving, and the changes since; null: there is no frame, or too much has
   * changed.
   */
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
