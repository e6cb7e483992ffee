export type DeliveryStatusName = 'pending' | 'succeeded' | 'failed'

export interface AttemptEntry {
  readonly time: string
  /** HTTP status of the response; null without a response. */
  readonly httpCode: number | null
  readonly durationMs: number
  readonly error: string | null
}

/** An event at an endpoint, with the outcome of its delivery. */
export interface DeliveryEntry {
  readonly messageId: string
  readonly eventType: string
  readonly status: DeliveryStatusName
  readonly createdAt: string
  readonly nextAttemptAt: string | null
  readonly reason: string | null
  readonly attempts: readonly AttemptEntry[]
}

/** A delivery whose outcome the page waits for. */
export interface PendingSend {
  readonly messageId: string
  /** Time of the last attempt before the event was sent again; null if there was no attempt. */
  readonly after: string | null
}

export const lastAttempt = ({ attempts }: DeliveryEntry): AttemptEntry | undefined => attempts.at(-1)

/**
 * Returns the delivery as soon as it has an attempt after the pending send; until then null. That attempt is
 * the outcome, even if more attempts follow.
 */
export function finalAttempt(
  deliveries: readonly DeliveryEntry[],
  { messageId, after }: PendingSend,
): DeliveryEntry | null {
  const found = deliveries.find((each) => each.messageId === messageId)
  if (found === undefined) return null
  const last = lastAttempt(found)
  return last !== undefined && last.time !== after ? found : null
}

/** Describes the outcome of an attempt in a few words. */
export function describeAttempt({ httpCode, durationMs, error }: AttemptEntry): string {
  const answered = httpCode === null ? 'no answer' : `HTTP ${httpCode}`
  return `${answered} after ${Math.round(durationMs)} ms${error === null ? '' : `: ${error}`}`
}

/** Describes the outcome of a delivery that the page waited for. */
export function describeDelivery(delivery: DeliveryEntry): string {
  const last = lastAttempt(delivery)
  const outcome = last === undefined ? '' : ` (${describeAttempt(last)})`
  if (delivery.status === 'succeeded') return `Delivered${outcome}.`
  return delivery.status === 'failed' ? `Failed${outcome}.` : `Not delivered yet${outcome}; Weft retries.`
}
