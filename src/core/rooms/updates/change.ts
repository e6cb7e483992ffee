import type { WriteRight } from '../../directory/write-right.ts'
import type { EditAuthor } from '../../events/debounce-windows.ts'
import type { ChangeMeta, ChangeSource } from '../../model/change-origin.ts'
import type { UpdateSummary } from '../../update/summary.ts'
import type { CommittedUpdates, FrameEncoder, Member } from './member.ts'

/** An update that was applied to the document. It is durable when the promise of its append resolves. */
export interface Change {
  readonly bytes: Uint8Array
  /** Id of the user who caused the update; '' if the user is unknown. */
  readonly by: string
  /**
   * The member that sent the update, and to which the update is usually not sent back; null if the update came from a
   * backend.
   */
  readonly from: Member | null
  readonly summary: UpdateSummary
  /** How the update reached the document; absent for an update from a websocket. */
  readonly source?: ChangeSource
  /** Data of the backend that sent the update; absent or null if there is none. */
  readonly meta?: ChangeMeta | null
  /** True if the update was copied from the editor that this branch follows, so its author has not edited here. */
  readonly isCopy?: boolean | undefined
  /** The permission of a caller without a websocket; undefined if no permission is checked. */
  readonly right?: WriteRight | undefined
}

/**
 * The updates as frames of one protocol: `frames` has one frame for each update, `all` is their
 * concatenation.
 */
interface Encoded {
  readonly encoder: FrameEncoder
  readonly frames: readonly Uint8Array[]
  readonly all: Uint8Array
}

/** Traces the broadcast of a commit, or its failure. */
interface BroadcastTrace {
  /** Runs `send`, which sends the commit to the members. */
  broadcast(members: number, send: () => void): void
  /** Must be called if the commit is not broadcast. Has no effect after a broadcast. */
  failed(error: unknown): void
}

/**
 * The updates of one commit. Each update is encoded once for each protocol. The joined frames are also built
 * once, for all members that sent none of the updates. A busy room therefore makes one write for each
 * receiver, instead of one write for each receiver and update.
 */
export class Commit implements CommittedUpdates {
  /** The updates in the order of their sequence numbers; at least one. */
  readonly updates: readonly Change[]
  /** Arrival time of the first of these updates, in epoch milliseconds. */
  readonly since: number
  /** The spans of the commit; null if it is not traced. */
  readonly trace: BroadcastTrace | null
  #senders: ReadonlySet<Member | null> | null = null
  /**
   * The frames of the protocol that was requested first; `#others` has the frames of other protocols. Most
   * rooms have only one protocol.
   */
  #first: Encoded | null = null
  #others: Map<FrameEncoder, Encoded> | null = null

  constructor(updates: readonly Change[], since: number, trace: BroadcastTrace | null = null) {
    this.updates = updates
    this.since = since
    this.trace = trace
  }

  bytesFor(member: Member): Uint8Array | null {
    const { updates } = this
    if (member.echoes === true) return this.#encodedFor(member.encoder).all
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
 * Returns the authors in the order of their updates. The list may contain an author several times, but not
 * twice in succession. Most commits have one author.
 */
export function authorsOf(updates: readonly Change[]): readonly EditAuthor[] {
  const authors = updates.slice(0, 1).map(authorOf)
  let last = updates[0]
  for (const update of updates) {
    if (update.from !== last?.from || update.by !== last.by) authors.push(authorOf(update))
    last = update
  }
  return authors
}

const authorOf = ({ by, from }: Change): EditAuthor =>
  from === null ? { userId: by } : { userId: by, name: from.user.name }

export const updateBytesOf = (updates: readonly Change[]): number => {
  let sum = 0
  for (const { bytes } of updates) sum += bytes.length
  return sum
}
