import type { Clock } from '../clock.ts'
import { type EventIds, type EventType, type StoredEvent, storedEvent } from '../events/outbound.ts'
import type { Tenant } from '../model/address.ts'
import type { RetryRules } from '../subscriptions/deliveries.ts'
import { type MessageRecord, noOrganization, type TargetAddress } from '../subscriptions/delivery-records.ts'
import { delayAfter, type Schedule } from './schedule.ts'

export interface RuleParts {
  readonly clock: Clock
  readonly schedule: Schedule
  readonly ids: EventIds
  readonly wanted: (tenant: Tenant, type: EventType) => boolean
  /** From 0 to 1. */
  readonly random: () => number
}

/** What follows from failures of a target. */
export const rulesOf = (parts: RuleParts, address: TargetAddress): RetryRules => ({
  retryAfter: (failures) => delayAfter(parts.schedule, failures, parts.random()),
  exhausted: (message) => exhaustedEvent(parts, address, message),
})

/** Null where nobody is told: of what was a trial, and of having failed to tell of a failure. */
function exhaustedEvent(
  { clock, ids, wanted }: RuleParts,
  address: TargetAddress,
  message: MessageRecord,
): StoredEvent | null {
  const type = 'message.attempt.exhausted'
  const { organizationId } = message
  if (message.type === type || organizationId === noOrganization || !wanted(address, type)) return null
  const last = message.attempts.at(-1)
  const data = {
    endpointId: address.targetId,
    messageId: message.id,
    eventType: message.type,
    attempts: message.failures,
    httpStatus: last?.httpStatus ?? null,
  }
  const at = clock.now()
  const event = { type, documentId: null, actionUser: { userId: address.apiKey }, data } as const
  return storedEvent({ ...address, organizationId }, event, { id: ids.next(at), at })
}
