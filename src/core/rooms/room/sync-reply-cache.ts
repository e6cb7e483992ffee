import * as Y from 'yjs'
import { joinUpdates } from '../../update/join-updates.ts'
import type { DocumentState } from '../document/document-state.ts'

/**
 * Minimum size in bytes of a state that several clients share. Encoding a smaller state again costs less than
 * keeping it.
 */
const sharedFrom = 65_536

/** Encodes the reply to a state vector as frames. */
export interface SyncReplyEncoder {
  /** Returns the frame of the reply itself, in buffers that are sent directly after each other. */
  offer(bytes: Uint8Array): readonly Uint8Array[]
  /**
   * Returns the frame of an update that is sent before the reply. A client considers the document complete
   * when it has received the reply, so this frame must precede the reply.
   */
  update(bytes: Uint8Array): Uint8Array
}

/** A whole state that was sent, as long as it stays in memory. */
interface SentState {
  readonly bytes: WeakRef<Uint8Array>
  readonly revision: number
  readonly vector: Uint8Array
}

/**
 * Encodes the replies to state vectors. A new client receives the whole document, and after a restart all
 * clients connect simultaneously. These clients share the bytes of one state; an additional frame with the
 * later changes is sent before it. The bytes are as large as the document, so they stay in memory only while
 * they are being sent.
 */
export class SyncReplyCache {
  readonly #state: DocumentState
  #sent: SentState | null = null

  constructor(state: DocumentState) {
    this.#state = state
  }

  /** True if the reply to this state vector needs a large state that is not in memory. */
  mustEncode(vector: Uint8Array): boolean {
    const { parts, opened, isSlowToEncode } = this.#state
    const isInMemory = parts !== null || opened !== null || this.#sent?.bytes.deref() !== undefined
    return vector.length <= 1 && !isInMemory && isSlowToEncode
  }

  /**
   * Returns the frames with the content that a client with this state vector lacks, as buffers in sending
   * order. The caller must not change the buffers.
   */
  framesFor(encoder: SyncReplyEncoder, vector: Uint8Array): readonly Uint8Array[] {
    if (vector.length > 1) return encoder.offer(this.#state.diff(vector))
    const parts = this.#state.parts
    if (parts === null)
      return (
        this.#openedFrames(encoder) ??
        this.#sharedFrames(encoder) ??
        encoder.offer(this.#kept(this.#state.encode()))
      )
    // This branch does not create a Y.Doc.
    const { bytes, waiting } = parts
    if (waiting === null) return encoder.offer(this.#kept(bytes))
    if (bytes.length < sharedFrom) return encoder.offer(joined(bytes, waiting))
    return [encoder.update(waiting), ...encoder.offer(bytes)]
  }

  /** Returns a frame with the bytes of a large document that was opened recently, after a frame with the changes since. */
  #openedFrames(encoder: SyncReplyEncoder): readonly Uint8Array[] | null {
    const { opened } = this.#state
    if (opened === null) return null
    const { bytes, later } = opened
    const frames = encoder.offer(bytes)
    return later.length === 0 ? frames : [encoder.update(Y.mergeUpdates(later)), ...frames]
  }

  /**
   * Returns a frame with the state that is being sent to other clients, after a frame with the changes since
   * then. Returns null if no such state is in memory, or if the changes are larger than an eighth of it.
   */
  #sharedFrames(encoder: SyncReplyEncoder): readonly Uint8Array[] | null {
    const bytes = this.#sent?.bytes.deref()
    if (this.#sent === null || bytes === undefined) return null
    if (this.#sent.revision === this.#state.revision) return encoder.offer(bytes)
    const changes = this.#state.diff(this.#sent.vector)
    return changes.length > bytes.length / 8 ? null : [encoder.update(changes), ...encoder.offer(bytes)]
  }

  /** Keeps a whole state for the next clients, and returns it. */
  #kept(bytes: Uint8Array): Uint8Array {
    const { revision } = this.#state
    if (bytes.length >= sharedFrom && this.#sent?.bytes.deref() !== bytes)
      this.#sent = { bytes: new WeakRef(bytes), revision, vector: this.#state.vector() }
    return bytes
  }
}

/**
 * Joins the bytes of a state and a waiting update to one whole state. Joins them as bytes if that is
 * possible; otherwise Yjs merges them.
 */
const joined = (bytes: Uint8Array, waiting: Uint8Array): Uint8Array =>
  joinUpdates([bytes, waiting])?.bytes ?? Y.mergeUpdates([bytes, waiting])
