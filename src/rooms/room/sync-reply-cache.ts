import * as Y from 'yjs'
import { joinUpdates } from '../../update/join-updates.ts'
import type { DocumentState } from './document-state.ts'

/**
 * Minimum size in bytes of a state whose frame is kept for several clients. Encoding a smaller frame again
 * costs less than keeping it.
 */
const sharedFrom = 65_536

/** Encodes the reply to a state vector as frames. */
export interface SyncReplyEncoder {
  /** Returns the frame of the reply itself. */
  offer(bytes: Uint8Array): Uint8Array
  /**
   * Returns the frame of an update that is sent before the reply. A client considers the document complete
   * when it has received the reply, so this frame must precede the reply.
   */
  update(bytes: Uint8Array): Uint8Array
}

interface Whole {
  readonly encoder: SyncReplyEncoder
  readonly frame: WeakRef<Uint8Array>
  /** The bytes from which the frame was encoded. */
  readonly bytes: WeakRef<Uint8Array>
  /** The state that the frame contains; null if the frame does not contain the whole state. */
  readonly held: { readonly revision: number; readonly vector: Uint8Array } | null
}

/**
 * Encodes and caches the replies to state vectors. A new client receives the whole document, and after a
 * restart all clients connect simultaneously. These clients share one frame of the document; an additional
 * frame with the later changes is sent before the shared one. The shared frame is as large as the document,
 * so it stays in memory only while it is being sent.
 */
export class SyncReplyCache {
  readonly #state: DocumentState
  #whole: Whole | null = null

  constructor(state: DocumentState) {
    this.#state = state
  }

  /**
   * Returns the frames with the content that a client with this state vector lacks, in sending order. The
   * caller must not change the frames.
   */
  framesFor(encoder: SyncReplyEncoder, vector: Uint8Array): readonly Uint8Array[] {
    if (vector.length > 1) return [encoder.offer(this.#state.diff(vector))]
    const parts = this.#state.parts
    if (parts === null)
      return this.#sharedFrames(encoder) ?? [this.#frameOf(this.#state.encode(), encoder, true)]
    // This branch does not create a Y.Doc.
    const { bytes, waiting } = parts
    if (waiting !== null && bytes.length < sharedFrom) return [encoder.offer(joined(bytes, waiting))]
    const frame = this.#sharedFrame(encoder, bytes) ?? this.#frameOf(bytes, encoder, waiting === null)
    return waiting === null ? [frame] : [encoder.update(waiting), frame]
  }

  /**
   * Returns the frame of these bytes if the frame is still being sent to other clients; otherwise undefined.
   */
  #sharedFrame(encoder: SyncReplyEncoder, bytes: Uint8Array): Uint8Array | undefined {
    if (this.#whole?.encoder !== encoder || this.#whole.bytes.deref() !== bytes) return undefined
    return this.#whole.frame.deref()
  }

  /**
   * Returns the frame that is being sent to other clients, after a frame with the changes since then. Returns
   * null if no such frame is in memory, or if the changes are larger than an eighth of it.
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

/**
 * Joins the bytes of a state and a waiting update to one whole state. Joins them as bytes if that is
 * possible; otherwise Yjs merges them.
 */
const joined = (bytes: Uint8Array, waiting: Uint8Array): Uint8Array =>
  joinUpdates([bytes, waiting])?.bytes ?? Y.mergeUpdates([bytes, waiting])
