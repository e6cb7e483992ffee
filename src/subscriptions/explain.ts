import { eventTypes, exhaustedType, isEventType } from '../events/outbound-event.ts'
import { didYouMean } from '../text.ts'
import { basicTargetIds, channelsHave, filtersHave, isForOneTarget } from './target.ts'
import type { AdvancedConfig, BasicConfig, EndpointRecord } from './webhook-records.ts'

/** The configuration that decides where an event is sent. */
export interface ExplainedConfig {
  readonly basic: BasicConfig
  readonly advanced: Pick<AdvancedConfig, 'isEnabled'>
  readonly endpoints: readonly ExplainedEndpoint[]
}

/** The members of an advanced endpoint that decide. */
export interface ExplainedEndpoint extends Pick<EndpointRecord, 'id' | 'filterTypes' | 'channels'> {
  readonly disabled: boolean
}

/** The members of an event that decide. */
export interface ExplainedEvent {
  readonly type: string
  readonly organizationId: string
  readonly documentId: string | null
}

/** Whether one target gets the event, and why not. */
export interface Explanation {
  /** Id of the endpoint, `basic-raw` or `basic-processed`. */
  readonly endpointId: string
  readonly isSent: boolean
  /** Why the event is not sent there, or when it is; null: it is sent. */
  readonly reason: string | null
}

/** The event as it is sent: events of some types belong to the organization as a whole. */
export const eventAsSent = (event: ExplainedEvent): ExplainedEvent =>
  event.type === exhaustedType ? { ...event, documentId: null } : event

/** Explains for each target why it gets an event, or does not. */
export function explainEvent(
  { basic, advanced, endpoints }: ExplainedConfig,
  given: ExplainedEvent,
): readonly Explanation[] {
  const event = eventAsSent(given)
  const general = generalReason(event.type)
  return [
    ...basicTargetIds.map((id) => explained(id, general ?? basicReason(basic, id, event), event)),
    ...endpoints.map((endpoint) =>
      explained(
        endpoint.id,
        general ??
          (advanced.isEnabled ? endpointReason(endpoint, event) : 'the advanced webhook service is off'),
        event,
      ),
    ),
  ]
}

/** Why no target gets events of a type; null: each target decides. */
function generalReason(type: string): string | null {
  if (!isEventType(type)) return `Weft has no event of the type ${type}${didYouMean(type, eventTypes)}`
  return isForOneTarget(type) ? 'a test is sent only to the endpoint that it names' : null
}

/** @param problem why the event is not sent; null: it is sent */
const explained = (endpointId: string, problem: string | null, { type }: ExplainedEvent): Explanation => ({
  endpointId,
  isSent: problem === null,
  reason: problem ?? (type === exhaustedType ? 'it is sent unless it is about this endpoint' : null),
})

function basicReason(
  { useWebhookService, webhookServiceConfig }: BasicConfig,
  id: string,
  { type }: ExplainedEvent,
): string | null {
  const { rawNotificationUrl, processedNotificationUrl, triggers } = webhookServiceConfig
  if (!useWebhookService) return 'the basic webhook service is off'
  if ((id === 'basic-raw' ? rawNotificationUrl : processedNotificationUrl) === '') return 'it has no URL'
  return triggers[type] === true ? null : `the trigger ${type} is off`
}

function endpointReason(endpoint: ExplainedEndpoint, event: ExplainedEvent): string | null {
  if (endpoint.disabled) return 'the endpoint is disabled'
  if (!filtersHave(endpoint, event.type)) return `its filterTypes do not have ${event.type}`
  if (channelsHave(endpoint, event)) return null
  return 'its channels have neither the organization nor the document'
}
