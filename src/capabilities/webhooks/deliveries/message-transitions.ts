import { EventIds, type QueuedEvent } from '../../../core/events/outbound-event.ts'
import {
  type AttemptRecord,
  type DeliveryState,
  deliveryLimits,
  type MessageRecord,
  messageIdOf,
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
  ...(message.progress && { progress: { ...message.progress, version: null } }),
})

/** Returns the message with the status `failed`. A failed message is not sent again automatically. */
export const failMessage = (message: MessageRecord, reason: string | null): MessageRecord => ({
  ...message,
  status: 'failed',
  dueAt: null,
  reason,
})

export interface AttemptResult {
  readonly messageId: string
  readonly attempt: AttemptRecord
  /** Only for the callback `store`. */
  readonly store?: StoreAttempt
}

/**
 * Returns the message with the outcome of an attempt. If further events have arrived for the editor of the message since
 * the content was read, the message stays pending.
 * @param retryAt returns the time of the next attempt in epoch milliseconds, if `failures` attempts have
 * failed; null if there are no more attempts
 */
export function recordAttempt(
  message: MessageRecord,
  { attempt, store }: AttemptResult,
  retryAt: (failures: number) => number | null,
): MessageRecord {
  const after = afterAttempt(message, attempt, retryAt)
  const { progress } = message
  if (store === undefined || progress === undefined) return after
  const isAccepted = attempt.error === null
  const version = isAccepted ? store.version : progress.version
  const next = { ...after, progress: { ...progress, attemptedAt: attempt.at, version } }
  if (progress.events === store.events) return next
  const dueAt = Math.min(after.dueAt ?? Number.POSITIVE_INFINITY, attempt.at + store.spacingMs)
  return { ...next, status: 'pending', failures: isAccepted ? 0 : after.failures, dueAt }
}

function afterAttempt(
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

/** An attempt of the callback `store`. */
interface StoreAttempt {
  /** Value of `events` of the message before the content was read. */
  readonly events: number
  /** The version that was sent; null if it is not known. */
  readonly version: string | null
  /** Minimum time in ms between two attempts for an editor. */
  readonly spacingMs: number
}

/**
 * Returns the message of an editor for a further event; a new message if the last one was delivered. A pending
 * message keeps its place in the order, and waits no longer than the next attempt for the editor may wait.
 */
export function nextStoreMessage(
  prior: MessageRecord | null,
  {
    event,
    editor,
    targetId,
  }: { readonly event: QueuedEvent; readonly editor: string; readonly targetId: string },
  { now, spacingMs }: { readonly now: number; readonly spacingMs: number },
): MessageRecord {
  const before = prior?.progress ?? { editor, events: 0, version: null, attemptedAt: 0 }
  // `Math.min` prevents a longer wait if the clock was set back.
  const next = Math.min(now + spacingMs, Math.max(now, before.attemptedAt + spacingMs))
  const progress = { ...before, events: before.events + 1 }
  if (prior?.status === 'pending') return { ...prior, progress, dueAt: Math.min(prior.dueAt ?? next, next) }
  const id = messageIdOf({ id: new EventIds().next(now) }, targetId)
  return { ...newMessage({ ...event, at: now }, id, now), progress, dueAt: next }
}

/**
 * Returns the message of an editor whose version the receiver already has.
 * @param events value of `events` before the content was read
 */
export function skipStoreMessage(message: MessageRecord, events: number, now: number): MessageRecord {
  return message.progress?.events === events
    ? { ...message, status: 'succeeded', dueAt: null, reason: null }
    : { ...message, dueAt: now }
}

export const stateAfter = (state: DeliveryState, { at, error }: AttemptRecord): DeliveryState => ({
  ...state,
  attemptedAt: Math.max(state.attemptedAt, at),
  failingSince: error === null ? null : (state.failingSince ?? at),
})
