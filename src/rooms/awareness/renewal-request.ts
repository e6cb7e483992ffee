import { removedText, writeAwareness } from '../../update/awareness.ts'
import type { Member } from '../room/member.ts'

/**
 * Asks a member whether it is a client that is no longer shown, with the removal of that client's state. In y-protocols
 * a client answers its own removal with its present state, one clock later. A connection that only repeats the state of
 * another client has no answer. So the server does not believe a repeated state, and does not invent a clock for a
 * client that returns, which may have changed its state meanwhile.
 * @param clock the last clock that others have received
 */
export function requestRenewal(member: Member, clientId: number, clock: number): void {
  const { encoder } = member
  const removal = writeAwareness([{ clientId, clock, text: removedText }])
  member.deliverAwareness(encoder.awareness(removal), false)
  if (!encoder.answersRemoval) member.deliverAwareness(encoder.awarenessQuery, false)
}
