import { exhaustedType, type QueuedEvent } from '../events/outbound-event.ts'
import type { AdvancedConfig, BasicConfig, BasicServiceConfig, EndpointRecord } from './webhook-records.ts'

/** Where events are sent to. */
export type WebhookTarget =
  | { readonly kind: 'endpoint'; readonly endpoint: EndpointRecord; readonly config: AdvancedConfig }
  | {
      readonly kind: 'basic'
      readonly form: 'raw' | 'processed'
      readonly url: string
      readonly config: BasicServiceConfig
    }

/** What is configured by an API key. */
export interface TenantWebhooks {
  readonly basic: BasicConfig
  readonly advanced: AdvancedConfig
  /** In the order of their ids. */
  readonly endpoints: readonly EndpointRecord[]
}

/** What decides whether an event is told. */
export type MatchableEvent = Pick<QueuedEvent, 'type' | 'scope' | 'documentId' | 'data'>

/** Names a target among those of its API key: the endpoint's id, `basic-raw` or `basic-processed`. */
export const targetIdOf = (target: WebhookTarget): string =>
  target.kind === 'endpoint' ? target.endpoint.id : `basic-${target.form}`

/** Ids of the targets that every API key has. */
export const basicTargetIds: readonly string[] = ['basic-raw', 'basic-processed']

/** All to whom anything is sent, whatever they want to be told of. */
export function activeTargets({ basic, advanced, endpoints }: TenantWebhooks): readonly WebhookTarget[] {
  const { rawNotificationUrl, processedNotificationUrl } = basic.webhookServiceConfig
  const urls = [
    { form: 'raw', url: rawNotificationUrl },
    { form: 'processed', url: processedNotificationUrl },
  ] as const
  return [
    ...urls
      .filter(({ url }) => basic.useWebhookService && url !== '')
      .map((place) => ({ kind: 'basic', ...place, config: basic.webhookServiceConfig }) as const),
    ...endpoints
      .filter(({ disabledBy }) => advanced.isEnabled && disabledBy === null)
      .map((endpoint) => ({ kind: 'endpoint', endpoint, config: advanced }) as const),
  ]
}

/** Whether a target wants to be told of events of a type. Of tests nobody is told who was not named. */
export function matchesType(target: WebhookTarget, type: MatchableEvent['type']): boolean {
  if (isForOneTarget(type)) return false
  if (target.kind === 'basic') return target.config.triggers[type] === true
  return filtersHave(target.endpoint, type)
}

/** Returns whether events of a type are sent only to the endpoint that somebody names. */
export const isForOneTarget = (type: string): boolean => type === 'webhook.test'

/** Whether the filters of an endpoint have a type. */
export const filtersHave = ({ filterTypes }: Pick<EndpointRecord, 'filterTypes'>, type: string): boolean =>
  filterTypes === null || filterTypes.includes(type)

/** Whether a target is to be told of an event. Who has failed (`data.endpointId`) is not told of having failed. */
export function matchesEvent(target: WebhookTarget, event: MatchableEvent): boolean {
  if (!matchesType(target, event.type)) return false
  if (event.type === exhaustedType && event.data.endpointId === targetIdOf(target)) return false
  return (
    target.kind === 'basic' ||
    channelsHave(target.endpoint, {
      organizationId: event.scope.organizationId,
      documentId: event.documentId,
    })
  )
}

/** Whether the channels of an endpoint have the organization or the document of an event. */
export function channelsHave(
  { channels }: Pick<EndpointRecord, 'channels'>,
  { organizationId, documentId }: { readonly organizationId: string; readonly documentId: string | null },
): boolean {
  if (channels === null || channels.includes(organizationId)) return true
  return documentId !== null && channels.includes(documentId)
}
