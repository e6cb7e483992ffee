import type {
  WorkspaceAdvancedwebhookDeliveriesGetData,
  WorkspaceAdvancedwebhookDeliveriesGetDataDeliveriesItem,
} from '../../client/api/operation-types.ts'

/** An event that is sent to an endpoint, with the outcome of its delivery. */
export type DeliveryEntry = WorkspaceAdvancedwebhookDeliveriesGetDataDeliveriesItem

export type DeliveryStatusName = DeliveryEntry['status']

type AttemptEntry = DeliveryEntry['attempts'][number]

/** A page of the delivery log. */
export type DeliveryPage = WorkspaceAdvancedwebhookDeliveriesGetData

/** Path of the operations of delivery logs. */
export const deliveriesPath = '/v2/workspace/advancedwebhook/deliveries'

/** An event that the user has sent again or as a test, and whose outcome the page waits for. */
export interface PendingSend {
  readonly messageId: string
  /** Time of the last attempt before the user sent the event; null if there was no attempt. */
  readonly after: string | null
}

export const lastAttempt = ({ attempts }: DeliveryEntry): AttemptEntry | undefined => attempts.at(-1)

/**
 * Returns the delivery of a pending send when it has a new attempt; null until then. This attempt is the
 * outcome to show, even if more attempts follow.
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

/** Describes the outcome of a delivery for which the page has waited. */
export function describeDelivery(delivery: DeliveryEntry): string {
  const last = lastAttempt(delivery)
  const outcome = last === undefined ? '' : ` (${describeAttempt(last)})`
  if (delivery.status === 'succeeded') return `Delivered${outcome}.`
  return delivery.status === 'failed' ? `Failed${outcome}.` : `Not delivered yet${outcome}; Weft retries.`
}
