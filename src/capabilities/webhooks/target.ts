import { exhaustedType, type QueuedEvent } from '../../core/events/outbound-event.ts'
import { type CallbacksRecord, type StoreCallback, storedEditorOf } from './callback-records.ts'
import {
  basicForms,
  basicRouting,
  endpointRouting,
  exclusionOf,
  inactiveBecause,
  type RoutedEvent,
  storeTargetIds,
  type TargetRouting,
} from './event-routing.ts'
import type { AdvancedConfig, BasicConfig, BasicServiceConfig, EndpointRecord } from './webhook-records.ts'

/** A destination of events, with its configuration. */
export type WebhookTarget = { readonly routing: TargetRouting } & (
  | { readonly kind: 'endpoint'; readonly endpoint: EndpointRecord; readonly config: AdvancedConfig }
  | {
      readonly kind: 'basic'
      readonly form: 'raw' | 'processed'
      readonly url: string
      readonly config: BasicServiceConfig
    }
  | { readonly kind: 'store'; readonly callback: StoreCallback; readonly callbacks: CallbacksRecord }
)

/** The webhook configuration of an API key. */
interface TenantWebhooks {
  readonly basic: BasicConfig
  readonly advanced: AdvancedConfig
  /** Endpoints of the API key, sorted by id. */
  readonly endpoints: readonly EndpointRecord[]
  /** The callbacks; null if none are configured. */
  readonly callbacks: CallbacksRecord | null
}

/** The members of an event that decide which targets get the event. */
export type MatchableEvent = Pick<QueuedEvent, 'type' | 'scope' | 'documentId' | 'data' | 'only'>

/**
 * Returns the id of a target. The id is unique within the API key: the id of an endpoint, `basic-raw`,
 * `basic-processed`, or `store-0` to `store-7`.
 */
export const targetIdOf = ({ routing }: WebhookTarget): string => routing.id

/** Returns the targets that can receive events. A target that is off or disabled is not included. */
export const activeTargets = (webhooks: TenantWebhooks): readonly WebhookTarget[] =>
  targetsIn(webhooks).filter(({ routing }) => inactiveBecause(routing) === null)

const targetsIn = ({ basic, advanced, endpoints, callbacks }: TenantWebhooks): readonly WebhookTarget[] => [
  ...basicForms.map((form): WebhookTarget => {
    const routing = basicRouting(basic, form)
    return { kind: 'basic', form, url: routing.url, config: basic.webhookServiceConfig, routing }
  }),
  ...endpoints.map((endpoint): WebhookTarget => {
    const state = { isServiceOn: advanced.isEnabled, isDisabled: endpoint.disabledBy !== null }
    return { kind: 'endpoint', endpoint, config: advanced, routing: endpointRouting(endpoint, state) }
  }),
  ...(callbacks === null ? [] : storeTargets(callbacks)),
]

/** Returns the targets of the callback `store`, which share the editors. */
function storeTargets(callbacks: CallbacksRecord): readonly WebhookTarget[] {
  const { store: callback } = callbacks
  if (callback === null) return []
  return storeTargetIds.map((id): WebhookTarget => {
    const routing = { kind: 'store', id, isServiceOn: true } as const
    return { kind: 'store', callback, callbacks, routing }
  })
}

/** Returns the targets that get an event. Only the callback `store` gets changes of content with `only`. */
export function targetsOfEvent(
  targets: readonly WebhookTarget[],
  event: MatchableEvent,
): readonly WebhookTarget[] {
  if (event.only !== undefined) {
    if (event.type !== 'crdt.update_data') return []
    const { targetId } = storedEditorOf(event)
    return targets.filter(({ routing }) => routing.id === targetId)
  }
  const routed = toRoutedEvent(event)
  return targets.filter(({ routing }) => exclusionOf(routing, routed) === null)
}

const toRoutedEvent = ({ type, scope, documentId, data }: MatchableEvent): RoutedEvent => ({
  type,
  organizationId: scope.organizationId,
  documentId,
  failedEndpointId: type === exhaustedType ? String(data.endpointId) : null,
})
