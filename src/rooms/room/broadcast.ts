import type { WriteRight } from '../../directory/write-right.ts'
import type { EditAuthor } from '../../events/debounce-windows.ts'
import type { UpdateSummary } from '../../update/summary.ts'
import type { CommittedUpdates, FrameEncoder, Member } from './member.ts'

/** One update on its way: applied to the document, not durable before its append has resolved. */
export interface AppliedUpdate {
  readonly bytes: Uint8Array
  /** Id of the user who caused it; '' if no user is known. */
  readonly by: string
  /** The member that sent it and so needs no copy; null when it came from elsewhere. */
  readonly from: Member | null
  readonly summary: UpdateSummary
  /** The permission of a caller without a websocket; undefined: nothing is checked. */
  readonly right?: WriteRight | undefined
}

/** The frames of one protocol. */
interface Encoded {
  readonly encoder: FrameEncoder
  readonly frames: readonly Uint8Array[]
  readonly all: Uint8Array
}

/**
 * The updates of one commit. Frames are built once a protocol and put together once for all who sent none of them:
 * the cost of a busy room is one write per receiver, not one per receiver and update.
 */
export class UpdateBroadcast implements CommittedUpdates {
  /** In the order of their numbers; at least one. */
  readonly updates: readonly AppliedUpdate[]
  /** When the first of them came, in epoch milliseconds. */
  readonly since: number
  #senders: ReadonlySet<Member | null> | null = null
  /** One for each protocol in the room: mostly there is a first one only. */
  #first: Encoded | null = null
  #others: Map<FrameEncoder, Encoded> | null = null

  constructor(updates: readonly AppliedUpdate[], since: number) {
    this.updates = updates
    this.since = since
  }

  bytesFor(member: Member): Uint8Array | null {
    const { updates } = this
    if (updates.length === 1) return updates[0]?.from === member ? null : this.#encodedFor(member.encoder).all
    this.#senders ??= new Set(updates.map(({ from }) => from))
    const { frames, all } = this.#encodedFor(member.encoder)
    if (!this.#senders.has(member)) return all
    const others = frames.filter((_, index) => updates[index]?.from !== member)
    return others.length === 0 ? null : Buffer.concat(others)
  }

  #encodedFor(encoder: FrameEncoder): Encoded {
    if (this.#first === null) this.#first = this.#encode(encoder)
    if (this.#first.encoder === encoder) return this.#first
    this.#others ??= new Map()
    const encoded = this.#others.get(encoder) ?? this.#encode(encoder)
    this.#others.set(encoder, encoded)
    return encoded
  }

  #encode(encoder: FrameEncoder): Encoded {
    const [only] = this.updates
    if (this.updates.length === 1 && only !== undefined) {
      const all = encoder.update(only.bytes)
      return { encoder, frames: [all], all }
    }
    const frames = this.updates.map(({ bytes }) => encoder.update(bytes))
    return { encoder, frames, all: Buffer.concat(frames) }
  }
}

/**
 * Returns the authors in the order of their updates. An author may appear again, but not in a row: most commits have
 * one author.
 */
export function authorsOf(updates: readonly AppliedUpdate[]): readonly EditAuthor[] {
  const editors = updates.slice(0, 1).map(editorOf)
  let last = updates[0]
  for (const update of updates) {
    if (update.from !== last?.from || update.by !== last.by) editors.push(editorOf(update))
    last = update
  }
  return editors
}

const editorOf = ({ by, from }: AppliedUpdate): EditAuthor =>
  from === null ? { userId: by } : { userId: by, name: from.user.name }

export const updateBytesOf = (updates: readonly AppliedUpdate[]): number => {
  let sum = 0
  for (const { bytes } of updates) sum += bytes.length
  return sum
}
