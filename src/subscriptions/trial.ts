import { EventIds, type EventType, type StoredEvent } from '../events/outbound.ts'
import { noOrganization, type TargetAddress } from './delivery-records.ts'

/** An event that has not happened, for trying a receiver. @param now epoch milliseconds */
export const trialEvent = (
  { workspaceId, apiKey, targetId }: TargetAddress,
  type: EventType,
  now: number,
): StoredEvent => ({
  id: new EventIds().next(now),
  at: now,
  scope: { workspaceId, apiKey, organizationId: noOrganization },
  type,
  documentId: null,
  actionUser: { userId: apiKey },
  data: { endpointId: targetId, test: true },
})
