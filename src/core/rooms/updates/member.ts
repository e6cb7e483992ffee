import type { WriteRight } from '../../directory/write-right.ts'
import type { ChangeMeta } from '../../model/change-origin.ts'
import type { Close } from '../../model/close.ts'

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
  /** Set if the user is an agent. Its awareness state then has this kind, whatever the client sends. */
  readonly kind?: 'agent'
  /** Data that is stored with the changes of the user; null if there is none. */
  readonly meta?: ChangeMeta | null
}

/** The durable updates of one commit. */
export interface CommittedUpdates {
  /**
   * Returns the frames of all updates that `member` did not send itself, in one buffer; null if there are
   * none. If the member has requested its own updates, they are included.
   */
  bytesFor(member: Member): Uint8Array | null
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
  deliver(committed: CommittedUpdates): void
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
