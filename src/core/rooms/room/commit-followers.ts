import type { AppliedUpdate } from '../updates/broadcast.ts'

/** Receives the durable commits of a room, from this and from other nodes. */
export interface CommitFollower {
  /** Called when updates are durable, in the order of the commits. Must not throw and must not block. */
  committed(updates: readonly AppliedUpdate[]): void
  /** Called once, when the room ends. */
  ended(): void
}
