import { EventIds, type EventType, type QueuedEvent } from '../../../core/events/outbound-event.ts'
import { noOrganizationKey, type TargetAddress } from '../deliveries/delivery-records.ts'

/** Creates a test event for an endpoint. @param now current time in epoch milliseconds */
export const testEvent = (
  { workspaceId, apiKey, targetId }: TargetAddress,
  type: EventType,
  now: number,
): QueuedEvent => ({
  id: new EventIds().next(now),
  at: now,
  scope: { workspaceId, apiKey, organizationId: noOrganizationKey },
  type,
  documentId: null,
  actionUser: { userId: apiKey },
  data: { endpointId: targetId, test: true },
})
