import type { WriteRight } from '../../directory/write-right.ts'
import type { EditAuthor } from '../../events/debounce-windows.ts'
import type { ChangeMeta, ChangeSource } from '../../model/change-origin.ts'
import type { Close } from '../../model/close.ts'
import type { Job } from '../../store/engine.ts'
import type { Attribution } from '../../update/attribution/attribution.ts'
import type { UpdateSummary } from '../../update/summary.ts'

/**
 * Encodes messages of a room as frames of a wire protocol. Each method returns a whole websocket frame. All
 * members that use the same protocol have the same encoder object, so each frame is built once for all of
 * them.
 */
export interface FrameEncoder {
  update(bytes: Uint8Array): Uint8Array
  /**
   * Returns the frame of an awareness message. @param message an awareness update as y-protocols encodes it
   */
  awareness(message: Uint8Array): Uint8Array
  /** The frame that requests all awareness states that the client knows, including its own. */
  readonly awarenessQuery: Uint8Array
  /**
   * True if a client that receives the removal of its own awareness state replies with its current state.
   * Otherwise the server must request the states of the client.
   */
  readonly answersRemoval: boolean
}

/**
 * The user of a member, as its token states. The server writes the id and the name into the awareness state
 * of the member.
 */
export interface MemberUser {
  readonly id: string
  readonly name: string
  /** Email address of the user; '' if it is unknown. */
  readonly email: string
  /** Set if the user is an agent. The server writes this kind into its awareness state. */
  readonly kind?: 'agent'
  /** Data that is stored with the changes of the user; null if there is none. */
  readonly meta?: ChangeMeta | null
}

/** A session as its room sees it. */
export interface Member {
  readonly encoder: FrameEncoder
  readonly user: MemberUser
  /** The permission of the member to write; undefined if no permission is checked. */
  readonly right?: WriteRight | undefined
  /** True if the member also gets its own updates when they are durable. Default: false. */
  readonly echoes?: boolean
  /**
   * Sends the durable updates of a commit to the member, usually except its own updates. Never throws and
   * never blocks.
   */
  deliver(commit: Commit): void
  /**
   * Sends an awareness frame that the member's `encoder` has made. `own` is true if all states in the frame
   * are states that the member itself has published.
   */
  deliverAwareness(frame: Uint8Array, own: boolean): void
  /** Asks the member for the updates that the room lacks and on which an update of the member depends. */
  requestMissing(): void
  /**
   * Stops reading from the member until `resumeReading` has been called as many times as this method.
   * Undefined if reading from the member cannot be stopped.
   */
  pauseReading?(): void
  resumeReading?(): void
  /** Called when the room ends for this member. */
  end(close: Close): void
}

/**
 * A vetted update on its way from its arrival to the members. It is stored in the log as it is. A change of a client that
 * contains known parts is replaced by one with the new parts when it is applied.
 */
export interface Change {
  readonly bytes: Uint8Array
  readonly summary: UpdateSummary
  /** Id of the user who caused the update; '' if the user is unknown. */
  readonly by: string
  /**
   * The member that sent the update, and to which the update is usually not sent back; null if the update came from a
   * backend.
   */
  readonly from: Member | null
  /** How the update reached the document; absent for an update from a websocket. */
  readonly source?: ChangeSource
  /** Data of the backend that sent the update; absent or null if there is none. */
  readonly meta?: ChangeMeta | null
  /** The authors of the content, if `by` has copied the content of others. */
  readonly attribution?: Attribution | undefined
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

/** A change of a client, as it waits for the end of the tick. */
export interface ClientChange extends Change {
  readonly from: Member
  /**
   * `update`: an edit of the client. `offer`: the reply of the client to a state vector of the server. The
   * room already has most of an offer, and the delete set of an offer is always complete.
   */
  readonly kind: 'update' | 'offer'
  /**
   * Called when the whole update has been applied to the document; the update is not durable yet at that
   * time. Must not throw. Null: no callback.
   */
  readonly onApplied: (() => void) | null
}

/** Traces the broadcast of a commit, or its failure. */
interface CommitSpans {
  /** Runs `send`, which sends the commit to the members. */
  broadcast(members: number, send: () => void): void
  /** Must be called if the commit is not broadcast. Has no effect after a broadcast. */
  failed(error: unknown): void
}

/**
 * The changes that are appended together, and their jobs. Each update is encoded once for each protocol. The joined
 * frames are also built once, for all members that sent none of the updates. A busy room therefore makes one write for
 * each receiver, instead of one write for each receiver and update.
 */
export class Commit {
  /** The changes in the order of their sequence numbers; at least one. */
  readonly changes: readonly Change[]
  /** Arrival time of the first of these changes, in epoch milliseconds. */
  readonly since: number
  /** Jobs that the append enqueues in the same transaction. */
  readonly jobs: readonly Job[] | undefined
  /** The spans of the commit; null if it is not traced. */
  readonly trace: CommitSpans | null
  /** Bytes of the updates. */
  readonly bytes: number
  #senders: ReadonlySet<Member | null> | null = null
  /**
   * The frames of the protocol that was requested first; `#others` has the frames of other protocols. Most
   * rooms have only one protocol.
   */
  #first: Encoded | null = null
  #others: Map<FrameEncoder, Encoded> | null = null

  constructor(
    changes: readonly Change[],
    since: number,
    jobs?: readonly Job[],
    trace: CommitSpans | null = null,
  ) {
    this.changes = changes
    this.since = since
    this.jobs = jobs
    this.trace = trace
    this.bytes = updateBytesOf(changes)
  }

  /**
   * Returns the frames of all updates that `member` did not send itself, in one buffer; null if there are
   * none. If the member has requested its own updates, they are included.
   */
  bytesFor(member: Member): Uint8Array | null {
    const { changes } = this
    if (member.echoes === true) return this.#encodedFor(member.encoder).all
    if (changes.length === 1) return changes[0]?.from === member ? null : this.#encodedFor(member.encoder).all
    this.#senders ??= new Set(changes.map(({ from }) => from))
    const { frames, all } = this.#encodedFor(member.encoder)
    if (!this.#senders.has(member)) return all
    const others = frames.filter((_, index) => changes[index]?.from !== member)
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
    const [only] = this.changes
    if (this.changes.length === 1 && only !== undefined) {
      const all = encoder.update(only.bytes)
      return { encoder, frames: [all], all }
    }
    const frames = this.changes.map(({ bytes }) => encoder.update(bytes))
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
