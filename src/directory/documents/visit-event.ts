import type { OutboundEvent } from '../../events/outbound-event.ts'
import type { Visitor } from '../../events/visit-tracker.ts'
import { withoutUser } from '../../model/named-users.ts'
import { areUsersErased } from '../organizations/erased-users.ts'
import type { DirectoryReader } from '../store/directory-reader.ts'

/** Somebody has come to a document, or left it. */
export interface VisitEvent {
  readonly event: OutboundEvent
  readonly visitor: Visitor
  readonly documentId: string
  /** When the user came, or went: epoch milliseconds. */
  readonly at: number
}

/** That a visitor has left, whenever that was. */
export function leaveEvent(documentId: string, { user, source }: Visitor): Omit<VisitEvent, 'at'> {
  const event: OutboundEvent = {
    type: 'presence.leave',
    documentId,
    actionUser: user,
    data: { user, source },
  }
  return { event, visitor: { user, source }, documentId }
}

/** The events without users whose data were deleted meanwhile: a name that is gone must not come back. */
export async function withoutErasedUsers(
  reader: DirectoryReader,
  visits: readonly VisitEvent[],
): Promise<readonly OutboundEvent[]> {
  const erased = await areUsersErased(
    reader,
    visits.map(({ event, at }) => ({ userId: event.actionUser.userId, at })),
  )
  return visits.map(({ event }, index) =>
    erased[index] === true ? withoutUser(event, { userId: event.actionUser.userId }) : event,
  )
}
