import { removedText, writeAwareness } from '../update/awareness.ts'
import { clockMax } from '../update/byte-reader.ts'
import type { Member } from './room/member.ts'

/** By so much later than any that is known here: others may have heard of it elsewhere, or before we were started. */
const aheadBy = 16

/**
 * Asks a member what its client shows, by telling it that it shows nothing: y-protocols has a client that shows
 * something contradict, one clock later, with what it shows at that moment. So nothing of it can be lost, and clocks
 * stay those of the clients.
 * @param told the latest clock that anybody is known to have heard of
 * @returns the clock under which it is asked; null: there are no later ones
 */
export function requestRenewal(member: Member, clientId: number, told: number): number | null {
  const clock = told + aheadBy
  if (clock >= clockMax) return null
  const { encoder } = member
  const farewell = writeAwareness([{ clientId, clock, text: removedText }])
  member.deliverAwareness(encoder.awareness(farewell), false)
  if (!encoder.tellsBack) member.deliverAwareness(encoder.awarenessQuery, false)
  return clock
}
