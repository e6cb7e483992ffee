import type { QueuedEvent } from '../../events/outbound-event.ts'
import {
  type AttemptRecord,
  type DeliveryState,
  deliveryLimits,
  type MessageRecord,
} from './delivery-records.ts'

/** Returns the new pending message of an event. @param now current time in epoch milliseconds */
export const newMessage = (event: QueuedEvent, id: string, now: number): MessageRecord => ({
  id,
  type: event.type,
  organizationId: event.scope.organizationId,
  at: event.at,
  status: 'pending',
  dueAt: now,
  failures: 0,
  reason: null,
  attempts: [],
})

/**
 * Returns the message with the status `pending`. The message is due immediately, and has no failures.
 * @param now current time in epoch milliseconds
 */
export const requeueMessage = (message: MessageRecord, now: number): MessageRecord => ({
  ...message,
  status: 'pending',
  dueAt: now,
  failures: 0,
  reason: null,
})

/** Returns the message with the status `failed`. A failed message is not sent again automatically. */
export const failMessage = (message: MessageRecord, reason: string | null): MessageRecord => ({
  ...message,
  status: 'failed',
  dueAt: null,
  reason,
})

/**
 * Returns the message with the outcome of an attempt.
 * @param retryAt returns the time of the next attempt in epoch milliseconds, if `failures` attempts have
 * failed; null if there are no more attempts
 */
export function recordAttempt(
  message: MessageRecord,
  attempt: AttemptRecord,
  retryAt: (failures: number) => number | null,
): MessageRecord {
  const attempts = [...message.attempts, attempt].slice(-deliveryLimits.attempts)
  if (attempt.error === null) return { ...message, status: 'succeeded', dueAt: null, attempts }
  const failures = message.failures + 1
  const dueAt = retryAt(failures)
  return { ...message, status: dueAt === null ? 'failed' : 'pending', dueAt, failures, attempts }
}

export const stateAfter = (state: DeliveryState, { at, error }: AttemptRecord): DeliveryState => ({
  ...state,
  attemptedAt: Math.max(state.attemptedAt, at),
  failingSince: error === null ? null : (state.failingSince ?? at),
})
