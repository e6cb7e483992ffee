import type { UpdateSummary } from '../update/summary.ts'
import type { Delivered, FrameEncoder, Member } from './member.ts'

/** One update on its way: applied to the document, not durable before its append has resolved. */
export interface RoomUpdate {
  readonly bytes: Uint8Array
  /** Id of the user who caused it, '' when nobody is known. */
  readonly by: string
  /** The member that sent it and so needs no copy; null when it came from elsewhere. */
  readonly from: Member | null
  readonly summary: UpdateSummary
}

/**
 * The updates of one commit. Frames are built once a protocol and put together once for all who sent none of them:
 * the cost of a busy room is one write per receiver, not one per receiver and update.
 */
export class Delivery implements Delivered {
  readonly updates: readonly RoomUpdate[]
  readonly #senders: ReadonlySet<Member | null>
  readonly #frames = new Map<FrameEncoder, { frames: Uint8Array[]; all: Buffer }>()

  constructor(updates: readonly RoomUpdate[]) {
    this.updates = updates
    this.#senders = new Set(updates.map((update) => update.from))
  }

  bytesFor(member: Member): Buffer | null {
    const { frames, all } = this.#encoded(member.encoder)
    if (!this.#senders.has(member)) return all
    const others = frames.filter((_, index) => this.updates[index]?.from !== member)
    return others.length === 0 ? null : Buffer.concat(others)
  }

  #encoded(encoder: FrameEncoder): { frames: Uint8Array[]; all: Buffer } {
    const known = this.#frames.get(encoder)
    if (known !== undefined) return known
    const frames = this.updates.map((update) => encoder.update(update.bytes))
    const encoded = { frames, all: Buffer.concat(frames) }
    this.#frames.set(encoder, encoded)
    return encoded
  }
}
