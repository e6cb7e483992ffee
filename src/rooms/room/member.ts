import type { WriteRight } from '../../directory/write-right.ts'
import type { Close } from '../../model/close.ts'

/**
 * Encodes messages of a room for the wire. There is one object for each protocol, so that a frame is built once for all
 * members that use the protocol. Each function returns a whole websocket frame.
 */
export interface FrameEncoder {
  update(bytes: Uint8Array): Uint8Array
  /** `message` is an awareness update as y-protocols encodes it. */
  awareness(message: Uint8Array): Uint8Array
  /** Requests all states that a client shows, including its own. */
  readonly awarenessQuery: Uint8Array
  /**
   * True if a client answers the removal of its state with its present state; otherwise the server requests its states.
   */
  readonly answersRemoval: boolean
}

/** The user of a member, from its token. The id and the name are stamped on its awareness state. */
export interface MemberUser {
  readonly id: string
  readonly name: string
  /** '' when unknown. */
  readonly email: string
}

/** The updates of one commit, durable. */
export interface CommittedUpdates {
  /** All frames for `member` in one buffer, without the updates it sent itself; null when none is left. */
  bytesFor(member: Member): Uint8Array | null
}

/** A session as its room sees it. */
export interface Member {
  readonly encoder: FrameEncoder
  readonly user: MemberUser
  /** Its permission to write; undefined: nothing is checked. */
  readonly right?: WriteRight | undefined
  /** Durable updates, its own among them. Never throws, never blocks. */
  deliver(committed: CommittedUpdates): void
  /** A frame made by its encoder. `own` is true when it is only about the member itself. */
  deliverAwareness(frame: Uint8Array, own: boolean): void
  /** Requests missing updates: the member has sent an update that depends on them. */
  requestMissing(): void
  /**
   * Stops reading from the member until `resumeReading` has been called as many times as this method. Undefined if
   * reading cannot be stopped.
   */
  pauseReading?(): void
  resumeReading?(): void
  /** Called when the room ends for this member. */
  end(close: Close): void
}
