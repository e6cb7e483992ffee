export type Status = 'pending' | 'succeeded' | 'failed'

export interface Attempt {
  readonly time: string
  /** Null: there was no answer. */
  readonly httpCode: number | null
  readonly durationMs: number
  readonly error: string | null
}

/** What has become of an event at an endpoint. */
export interface Delivery {
  readonly messageId: string
  readonly eventType: string
  readonly status: Status
  readonly createdAt: string
  readonly nextAttemptAt: string | null
  readonly reason: string | null
  readonly attempts: readonly Attempt[]
}

/** A delivery that somebody waits for. */
export interface Awaited {
  readonly messageId: string
  /** When its last attempt was, before it was sent again; null: there was none. */
  readonly after: string | null
}

export const lastAttempt = ({ attempts }: Delivery): Attempt | undefined => attempts.at(-1)

/** An attempt that has been made since then is the outcome, also where there will be others. */
export function outcomeOf(deliveries: readonly Delivery[], { messageId, after }: Awaited): Delivery | null {
  const found = deliveries.find((each) => each.messageId === messageId)
  if (found === undefined) return null
  const last = lastAttempt(found)
  return last !== undefined && last.time !== after ? found : null
}

/** What came of an attempt, in a few words. */
export function sayAttempt({ httpCode, durationMs, error }: Attempt): string {
  const answered = httpCode === null ? 'no answer' : `HTTP ${httpCode}`
  return `${answered} after ${Math.round(durationMs)} ms${error === null ? '' : `: ${error}`}`
}

/** What came of a delivery that somebody has waited for. */
export function sayOutcome(delivery: Delivery): string {
  const last = lastAttempt(delivery)
  const said = last === undefined ? '' : ` (${sayAttempt(last)})`
  if (delivery.status === 'succeeded') return `Delivered${said}.`
  return delivery.status === 'failed' ? `Failed${said}.` : `Not delivered yet${said}; it will be tried again.`
}
