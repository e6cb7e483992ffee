import type { Clock } from '../../core/base/clock.ts'
import {
  type EventIds,
  type EventType,
  exhaustedType,
  type QueuedEvent,
  queuedEvent,
} from '../../core/events/outbound-event.ts'
import type { Tenant } from '../../core/model/address.ts'
import {
  type MessageRecord,
  noOrganizationKey,
  type TargetAddress,
} from '../subscriptions/deliveries/delivery-records.ts'
import type { RetryPolicy } from '../subscriptions/deliveries/delivery-service.ts'
import { storeTargetIds } from '../subscriptions/event-recipient.ts'
import { delayAfter, type Schedule } from './retry-schedule.ts'

export interface RetryRuleDependencies {
  readonly clock: Clock
  readonly schedule: Schedule
  readonly ids: EventIds
  readonly wanted: (tenant: Tenant, type: EventType) => boolean
  /** Returns a random number from 0 to 1. */
  readonly random: () => number
}

/**
 * Number of delays of the schedule that `store` uses. The last one (30 minutes) is repeated, so that the receiver
 * has the last version of each editor soon after an outage.
 */
const storeDelays = 3

/**
 * Returns the policy for failed attempts of a target. The attempts of the callback `store` do not end, because
 * the receiver must get the last version of each editor.
 */
export const retryPolicyFor = (dependencies: RetryRuleDependencies, address: TargetAddress): RetryPolicy => ({
  retryAfter: (failures) => {
    const { schedule, random } = dependencies
    const endless = storeTargetIds.includes(address.targetId)
    return delayAfter(schedule, endless ? Math.min(failures, storeDelays) : failures, random())
  },
  exhausted: (message) => exhaustedEvent(dependencies, address, message),
})

/**
 * Returns the event `message.attempt.exhausted` for a message whose attempts have all failed. Returns null if
 * no endpoint wants this event, for messages of test events, and for messages of `message.attempt.exhausted`
 * events.
 */
function exhaustedEvent(
  { clock, ids, wanted }: RetryRuleDependencies,
  address: TargetAddress,
  message: MessageRecord,
): QueuedEvent | null {
  const type = exhaustedType
  const { organizationId } = message
  if (message.type === type || organizationId === noOrganizationKey || !wanted(address, type)) return null
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
  return queuedEvent({ ...address, organizationId }, event, { id: ids.next(at), at, trace: null })
}
