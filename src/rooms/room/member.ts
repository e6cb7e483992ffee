import type { WriteRight } from '../../directory/write-right.ts'
import type { Close } from '../../model/close.ts'

/**
 * Encodes messages of a room for the wire. There is one encoder object for each protocol, so that a frame is
 * built once for all members that use the protocol. Each method returns a whole websocket frame.
 */
export interface FrameEncoder {
  update(bytes: Uint8Array): Uint8Array
  /** `message` is an awareness update as y-protocols encodes it. */
  awareness(message: Uint8Array): Uint8Array
  /** Requests all awareness states of a client, including its own. */
  readonly awarenessQuery: Uint8Array
  /**
   * True if a client replies to the removal of its state with its current state. Otherwise the server must
   * request the states of the client.
   */
  readonly answersRemoval: boolean
}

/**
 * The user of a member, from its token. The server writes the id and the name into the awareness state of the
 * member.
 */
export interface MemberUser {
  readonly id: string
  readonly name: string
  /** '' if unknown. */
  readonly email: string
}

/** The durable updates of one commit. */
export interface CommittedUpdates {
  /**
   * Returns all frames for `member` in one buffer, without the updates that it sent; null if none remains.
   */
  bytesFor(member: Member): Uint8Array | null
}

/** A session as its room sees it. */
export interface Member {
  readonly encoder: FrameEncoder
  readonly user: MemberUser
  /** The permission of the member to write; undefined if no permission is checked. */
  readonly right?: WriteRight | undefined
  /**
   * Sends the durable updates of a commit to the member, except its own updates. Never throws and never
   * blocks.
   */
  deliver(committed: CommittedUpdates): void
  /** Sends a frame of the member's encoder. `own` is true if the frame is only about the member itself. */
  deliverAwareness(frame: Uint8Array, own: boolean): void
  /** Requests the missing updates on which an update of this member depends. */
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
