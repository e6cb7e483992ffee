import type { DomainEvent } from '../../events/event-recorder.ts'
import type { OutboundEvent } from '../../events/outbound-event.ts'
import type { VisitChange, Visitor } from '../../events/visit-tracker.ts'
import { withoutUser } from '../../model/named-users.ts'
import { areUsersErased } from '../organizations/erased-users.ts'
import type { DirectoryReader } from '../store/directory-reader.ts'

/** The event that a user has joined or left a document. */
export interface VisitEvent extends Omit<VisitChange, 'document'> {
  readonly event: OutboundEvent
  readonly documentId: string
}

/** Returns the event that a user has left a document, without its time. No call has caused it. */
export function leaveEvent(documentId: string, { user, kind, source }: Visitor): Omit<VisitEvent, 'at'> {
  const event: OutboundEvent = {
    type: 'presence.leave',
    documentId,
    actionUser: user,
    data: { user, kind, source },
  }
  return { event, visitor: { user, kind, source }, documentId, trace: null }
}

/**
 * Returns the events, except those of users whose data was deleted after the event. The name of such a user
 * must not appear again.
 */
export async function withoutErasedUsers(
  reader: DirectoryReader,
  visits: readonly VisitEvent[],
): Promise<readonly DomainEvent[]> {
  const erased = await areUsersErased(
    reader,
    visits.map(({ event, at }) => ({ userId: event.actionUser.userId, at })),
  )
  return visits.map(({ event, trace }, index) => {
    const outbound = erased[index] === true ? withoutUser(event, { userId: event.actionUser.userId }) : event
    return { activity: null, outbound, trace }
  })
}
