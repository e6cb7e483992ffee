import type { RoomState } from './state.ts'

/** Bytes of a state from which its frame is shared: below, making one costs less than remembering it. */
const sharedFrom = 65_536

/** Makes a frame of the answer to a state vector. */
export interface OfferEncoder {
  offer(bytes: Uint8Array): Uint8Array
}

interface Whole {
  readonly bytes: WeakRef<Uint8Array>
  readonly encoder: OfferEncoder
  readonly frame: WeakRef<Uint8Array>
}

/**
 * Frames that answer state vectors. Who comes with nothing gets the whole document, and after a start everybody comes at
 * once: as long as it is kept as bytes they get one frame, not one each. It is as large as the document, so that only
 * those keep it to whom it is being sent.
 */
export class Answering {
  readonly #state: RoomState
  #whole: Whole | null = null

  constructor(state: RoomState) {
    this.#state = state
  }

  /** What somebody with this state vector lacks, as a frame; not to be changed. */
  frameFor(encoder: OfferEncoder, vector: Uint8Array): Uint8Array {
    const bytes = this.#state.diff(vector)
    if (bytes.length < sharedFrom || bytes !== this.#state.bytes) return encoder.offer(bytes)
    const { bytes: of, encoder: by, frame: shared } = this.#whole ?? {}
    const known = of?.deref() === bytes && by === encoder ? shared?.deref() : undefined
    if (known !== undefined) return known
    const frame = encoder.offer(bytes)
    this.#whole = { bytes: new WeakRef(bytes), encoder, frame: new WeakRef(frame) }
    return frame
  }
}
