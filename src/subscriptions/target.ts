import type { StoredEvent } from '../events/outbound.ts'
import type { AdvancedConfig, BasicConfig, BasicServiceConfig, EndpointRecord } from './records.ts'

/** Where events are sent to. */
export type Target =
  | { readonly kind: 'endpoint'; readonly endpoint: EndpointRecord; readonly config: AdvancedConfig }
  | {
      readonly kind: 'basic'
      readonly form: 'raw' | 'processed'
      readonly url: string
      readonly config: BasicServiceConfig
    }

/** What is configured by an API key. */
export interface Subscribed {
  readonly basic: BasicConfig
  readonly advanced: AdvancedConfig
  /** In the order of their ids. */
  readonly endpoints: readonly EndpointRecord[]
}

/** What decides whether an event is told. */
export type ToldEvent = Pick<StoredEvent, 'type' | 'scope' | 'documentId' | 'data'>

/** Names a target among those of its API key: the endpoint's id, `basic-raw` or `basic-processed`. */
export const targetIdOf = (target: Target): string =>
  target.kind === 'endpoint' ? target.endpoint.id : `basic-${target.form}`

/** Ids of the targets that every API key has. */
export const basicTargetIds: readonly string[] = ['basic-raw', 'basic-processed']

/** All to whom anything is sent, whatever they want to be told of. */
export function openTargets({ basic, advanced, endpoints }: Subscribed): readonly Target[] {
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
export function wantsType(target: Target, type: ToldEvent['type']): boolean {
  if (type === 'webhook.test') return false
  if (target.kind === 'basic') return target.config.triggers[type] === true
  return target.endpoint.filterTypes === null || target.endpoint.filterTypes.includes(type)
}

/** Whether a target is to be told of an event. Who has failed (`data.endpointId`) is not told of having failed. */
export function wantsEvent(target: Target, event: ToldEvent): boolean {
  if (!wantsType(target, event.type)) return false
  if (event.type === 'message.attempt.exhausted' && event.data.endpointId === targetIdOf(target)) return false
  return target.kind === 'basic' || isInChannels(target.endpoint, event)
}

function isInChannels({ channels }: EndpointRecord, { scope, documentId }: ToldEvent): boolean {
  if (channels === null || channels.includes(scope.organizationId)) return true
  return documentId !== null && channels.includes(documentId)
}
