import { exhaustedType } from '../../core/events/outbound-event.ts'
import type { BasicConfig, EndpointRecord, Triggers } from './webhook-records.ts'

/**
 * The members of a target that decide which events the target gets. Stored records and the public
 * configuration are both converted to this type.
 */
export type TargetRouting =
  | {
      readonly kind: 'basic'
      readonly id: string
      readonly isServiceOn: boolean
      readonly url: string
      readonly triggers: Triggers
    }
  | {
      readonly kind: 'endpoint'
      readonly id: string
      readonly isServiceOn: boolean
      readonly isDisabled: boolean
      readonly filterTypes: readonly string[] | null
      readonly channels: readonly string[] | null
    }
  /** The callback `store`. It gets no event by its type; see `targetsOfEvent`. */
  | { readonly kind: 'store'; readonly id: string; readonly isServiceOn: true }

/** The members of an event that decide which targets get the event. */
export interface RoutedEvent {
  readonly type: string
  readonly organizationId: string
  readonly documentId: string | null
  /**
   * Id of the endpoint whose failure a `message.attempt.exhausted` event reports. Null if the endpoint is not
   * known, or if the event has another type.
   */
  readonly failedEndpointId: string | null
}

/** Reason why a target does not get an event. */
export type Exclusion =
  | 'service-off'
  | 'no-url'
  | 'disabled'
  | 'only-named'
  | 'trigger-off'
  | 'filtered-out'
  | 'own-failure'
  | 'other-channel'

/** The forms in which the basic service sends events. Each form has its own URL. */
export const basicForms = ['raw', 'processed'] as const
type BasicForm = (typeof basicForms)[number]

const basicTargetId = (form: BasicForm): string => `basic-${form}`

/** Ids of the two basic targets, which every API key has. */
export const basicTargetIds: readonly string[] = basicForms.map(basicTargetId)

/**
 * Ids of the targets of the callback `store`. Each sends one request at a time, so this is also the number of
 * requests that an application gets at a time.
 */
export const storeTargetIds: readonly string[] = Array.from({ length: 8 }, (_, index) => `store-${index}`)

/** Ids of the targets that are not endpoints. */
export const fixedTargetIds: readonly string[] = [...basicTargetIds, ...storeTargetIds]

/** Returns the routing of one form of the basic service. */
export function basicRouting(
  { useWebhookService: isServiceOn, webhookServiceConfig }: BasicConfig,
  form: BasicForm,
): TargetRouting & { readonly kind: 'basic' } {
  const { rawNotificationUrl, processedNotificationUrl, triggers } = webhookServiceConfig
  const url = form === 'raw' ? rawNotificationUrl : processedNotificationUrl
  return { kind: 'basic', id: basicTargetId(form), isServiceOn, url, triggers }
}

/**
 * Returns the routing of an endpoint.
 * @param state `isServiceOn`: whether the advanced service is on. `isDisabled`: whether the endpoint is
 * disabled
 */
export const endpointRouting = (
  { id, filterTypes, channels }: Pick<EndpointRecord, 'id' | 'filterTypes' | 'channels'>,
  state: { readonly isServiceOn: boolean; readonly isDisabled: boolean },
): TargetRouting => ({ kind: 'endpoint', id, ...state, filterTypes, channels })

/**
 * Returns the first reason why a target does not get an event; null if it gets the event. The server uses
 * this function to decide where an event is sent. For a test event, the reason
 * why an endpoint is inactive comes first, because an active endpoint can get test events.
 */
export const exclusionOf = (routing: TargetRouting, event: RoutedEvent): Exclusion | null =>
  (routing.kind === 'endpoint' ? null : nameExclusion(event.type)) ??
  inactiveBecause(routing) ??
  typeExclusion(routing, event.type) ??
  eventExclusion(routing, event)

/**
 * Returns `only-named` for test events, because a test event is sent only to the endpoint that the call
 * specifies. Returns null for all other types.
 */
const nameExclusion = (type: string): Exclusion | null => (type === 'webhook.test' ? 'only-named' : null)

/** Returns why a target gets no events at all; null if it can get events. */
export function inactiveBecause(routing: TargetRouting): Exclusion | null {
  if (!routing.isServiceOn) return 'service-off'
  if (routing.kind === 'store') return null
  if (routing.kind === 'basic') return routing.url === '' ? 'no-url' : null
  return routing.isDisabled ? 'disabled' : null
}

/** Returns why a target gets no events of a type; null if it can get such events. */
export function typeExclusion(routing: TargetRouting, type: string): Exclusion | null {
  const exclusion = nameExclusion(type)
  if (exclusion !== null) return exclusion
  if (routing.kind === 'store') return 'filtered-out'
  if (routing.kind === 'basic') return routing.triggers[type] === true ? null : 'trigger-off'
  return routing.filterTypes === null || routing.filterTypes.includes(type) ? null : 'filtered-out'
}

/**
 * Returns why a target does not get this event; null if the target gets the event. A
 * `message.attempt.exhausted` event is not sent to the endpoint whose failure it reports.
 */
function eventExclusion(routing: TargetRouting, event: RoutedEvent): Exclusion | null {
  const { type, organizationId, documentId, failedEndpointId } = event
  if (type === exhaustedType && failedEndpointId === routing.id) return 'own-failure'
  if (routing.kind !== 'endpoint' || routing.channels === null) return null
  const { channels } = routing
  const isInChannel =
    channels.includes(organizationId) || (documentId !== null && channels.includes(documentId))
  return isInChannel ? null : 'other-channel'
}
