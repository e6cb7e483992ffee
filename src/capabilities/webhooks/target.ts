import { exhaustedType, type QueuedEvent } from '../../core/events/outbound-event.ts'
import { type CallbacksRecord, type StoreCallback, storedEditorOf } from './callback-records.ts'
import {
  type AdvancedConfig,
  type BasicConfig,
  type BasicForm,
  type BasicServiceConfig,
  basicForms,
  basicTargetId,
  type EndpointRecord,
  storeTargetIds,
} from './webhook-records.ts'

/**
 * A destination of events, with its configuration. Its id is unique within the API key: the id of an endpoint,
 * `basic-raw`, `basic-processed`, or `store-0` to `store-7`.
 */
export type WebhookTarget = { readonly id: string } & (
  | { readonly kind: 'endpoint'; readonly endpoint: EndpointRecord; readonly config: AdvancedConfig }
  | {
      readonly kind: 'basic'
      readonly form: BasicForm
      readonly url: string
      readonly config: BasicServiceConfig
    }
  | { readonly kind: 'store'; readonly callback: StoreCallback; readonly callbacks: CallbacksRecord }
)

/** The members of an event that decide which targets get the event. */
export type MatchableEvent = Pick<QueuedEvent, 'type' | 'scope' | 'documentId' | 'data' | 'only'>

/** Returns the targets of the advanced service; none if it is off. Disabled endpoints are not included. */
export const endpointTargets = (
  config: AdvancedConfig,
  endpoints: readonly EndpointRecord[],
): readonly WebhookTarget[] =>
  (config.isEnabled ? endpoints : [])
    .filter(({ disabledBy }) => disabledBy === null)
    .map((endpoint) => ({ kind: 'endpoint', id: endpoint.id, endpoint, config }))

/** Returns the targets of the basic service; none if it is off. */
export function basicTargets({
  useWebhookService,
  webhookServiceConfig: config,
}: BasicConfig): readonly WebhookTarget[] {
  const urls = { raw: config.rawNotificationUrl, processed: config.processedNotificationUrl }
  return basicForms
    .filter((form) => useWebhookService && urls[form] !== '')
    .map((form) => ({ kind: 'basic', id: basicTargetId(form), form, url: urls[form], config }))
}

/** Returns the targets of the callback `store`, which share the editors; none if it is not configured. */
export function storeTargets(callbacks: CallbacksRecord | null): readonly WebhookTarget[] {
  const callback = callbacks?.store ?? null
  if (callbacks === null || callback === null) return []
  return storeTargetIds.map((id) => ({ kind: 'store', id, callback, callbacks }))
}

/**
 * Returns whether a target gets events of a type. A test is sent only to the endpoint that the call names, and
 * `store` gets no event by its type.
 */
export function wantsType(target: WebhookTarget, type: string): boolean {
  if (type === 'webhook.test' || target.kind === 'store') return false
  if (target.kind === 'basic') return target.config.triggers[type] === true
  return target.endpoint.filterTypes?.includes(type) ?? true
}

/** Returns the targets that get an event. Only the callback `store` gets changes of content with `only`. */
export function targetsOfEvent(
  targets: readonly WebhookTarget[],
  event: MatchableEvent,
): readonly WebhookTarget[] {
  if (event.only === undefined)
    return targets.filter((target) => wantsType(target, event.type) && isInChannel(target, event))
  if (event.type !== 'crdt.update_data') return []
  const { targetId } = storedEditorOf(event)
  return targets.filter(({ id }) => id === targetId)
}

/** Returns false also for the endpoint whose failure the event reports. */
function isInChannel(target: WebhookTarget, { type, scope, documentId, data }: MatchableEvent): boolean {
  if (type === exhaustedType && data.endpointId === target.id) return false
  const channels = target.kind === 'endpoint' ? target.endpoint.channels : null
  if (channels === null) return true
  return channels.includes(scope.organizationId) || (documentId !== null && channels.includes(documentId))
}
