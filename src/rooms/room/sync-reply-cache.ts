import * as Y from 'yjs'
import { joinUpdates } from '../../update/join-updates.ts'
import type { DocumentState } from './document-state.ts'

/**
 * Minimum size in bytes of a state whose frame is shared. Encoding a smaller frame again costs less than
 * keeping it.
 */
const sharedFrom = 65_536

/** Encodes the reply to a state vector as frames. */
export interface SyncReplyEncoder {
  /** Encodes the reply itself. */
  offer(bytes: Uint8Array): Uint8Array
  /**
   * Encodes an update that is sent before the reply. It must be sent first, because a client considers the
   * document complete when it has received the reply.
   */
  update(bytes: Uint8Array): Uint8Array
}

interface Whole {
  readonly encoder: SyncReplyEncoder
  readonly frame: WeakRef<Uint8Array>
  /** The bytes from which the frame was encoded. */
  readonly bytes: WeakRef<Uint8Array>
  /** The state that the frame contains; null if the frame contains only a part of the state. */
  readonly held: { readonly revision: number; readonly vector: Uint8Array } | null
}

/**
 * The cache of replies to state vectors. A new client receives the whole document, and after a restart all
 * clients connect simultaneously. These clients share one frame of the document; a frame with the later
 * changes is sent before it. The shared frame is as large as the document, so only its current receivers keep
 * it in memory.
 */
export class SyncReplyCache {
  readonly #state: DocumentState
  #whole: Whole | null = null

  constructor(state: DocumentState) {
    this.#state = state
  }

  /**
   * Returns the frames that a client with this state vector lacks, in order. The caller must not change the
   * frames.
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

  /** Returns the frame of these bytes if it is still being sent to other clients; otherwise undefined. */
  #sharedFrame(encoder: SyncReplyEncoder, bytes: Uint8Array): Uint8Array | undefined {
    if (this.#whole?.encoder !== encoder || this.#whole.bytes.deref() !== bytes) return undefined
    return this.#whole.frame.deref()
  }

  /**
   * Returns the frame that other clients are receiving, and the changes since. Returns null if there is no
   * such frame or if too much has changed.
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

/** Returns one whole state. Copies the parts if that is possible; otherwise Yjs merges them. */
const joined = (bytes: Uint8Array, waiting: Uint8Array): Uint8Array =>
  joinUpdates([bytes, waiting])?.bytes ?? Y.mergeUpdates([bytes, waiting])
