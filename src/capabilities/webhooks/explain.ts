import { didYouMean } from '../../core/base/text.ts'
import { eventTypes, exhaustedType, isEventType } from '../../core/events/outbound-event.ts'
import type { StoreCallback } from './callback-records.ts'
import {
  basicForms,
  basicRouting,
  type Exclusion,
  endpointRouting,
  exclusionOf,
  type RoutedEvent,
  type TargetRouting,
} from './event-routing.ts'
import type { AdvancedConfig, BasicConfig, EndpointRecord } from './webhook-records.ts'

/** Name of the callback `store`, which has several targets. */
export const storeName = 'store'
/** Stands for all endpoints while the advanced service is off, because the server then does not list them. */
const allEndpoints = { id: 'advanced', filterTypes: null, channels: null }

/** The configuration that decides where an event is sent. */
export interface ExplainedConfig {
  readonly basic: BasicConfig
  readonly advanced: Pick<AdvancedConfig, 'isEnabled'>
  /** Not used if the advanced service is off. */
  readonly endpoints: readonly ExplainedEndpoint[]
  /** The callback `store`; null if it is not configured. */
  readonly store: Pick<StoreCallback, 'minSeconds'> | null
}

/** The members of an advanced endpoint that decide whether it gets an event. */
export interface ExplainedEndpoint extends Pick<EndpointRecord, 'id' | 'filterTypes' | 'channels'> {
  readonly disabled: boolean
}

/** States whether one target gets the event, and why. */
export interface Explanation {
  /** Id of the endpoint, `basic-raw`, `basic-processed`, `store`, or `advanced` if this service is off. */
  readonly endpointId: string
  readonly isSent: boolean
  /** Why the event is not sent, or the condition under which it is sent; null if it is sent in any case. */
  readonly reason: string | null
}

/**
 * Returns the event with the members that the server would use. Only `message.attempt.exhausted` events have
 * a failed endpoint. They have no document, because they belong to the whole organization.
 */
export const eventAsSent = (event: RoutedEvent): RoutedEvent =>
  event.type === exhaustedType ? { ...event, documentId: null } : { ...event, failedEndpointId: null }

/**
 * Explains for each target why the target gets or does not get an event. The server makes the same decision
 * when it sends events.
 */
export function explainEvent(config: ExplainedConfig, given: RoutedEvent): readonly Explanation[] {
  const event = eventAsSent(given)
  const { store } = config
  return [
    ...routingsIn(config).map((routing) => explained(routing, event)),
    ...(store === null ? [] : [explainedStore(store, event)]),
  ]
}

/** The callback `store` gets the content of the editor instead of the event. */
function explainedStore(
  { minSeconds }: Pick<StoreCallback, 'minSeconds'>,
  { type }: RoutedEvent,
): Explanation {
  const isSent = type === 'crdt.update_data'
  const reason = isSent
    ? `the callback store gets the content of the editor, at most once in ${minSeconds} s; it gets no branches`
    : 'the callback store gets only changes of content (crdt.update_data)'
  return { endpointId: storeName, isSent, reason }
}

const routingsIn = ({ basic, advanced, endpoints }: ExplainedConfig): readonly TargetRouting[] => [
  ...basicForms.map((form) => basicRouting(basic, form)),
  ...(advanced.isEnabled
    ? endpoints.map((each) => endpointRouting(each, { isServiceOn: true, isDisabled: each.disabled }))
    : [endpointRouting(allEndpoints, { isServiceOn: false, isDisabled: false })]),
]

function explained(routing: TargetRouting, event: RoutedEvent): Explanation {
  const { type } = event
  const endpointId = routing.id
  if (!isEventType(type)) {
    const reason = `Weft has no event of the type ${type}${didYouMean(type, eventTypes)}`
    return { endpointId, isSent: false, reason }
  }
  const exclusion = exclusionOf(routing, event)
  if (exclusion !== null) return { endpointId, isSent: false, reason: reasons[exclusion](routing, type) }
  const isOpen = type === exhaustedType && event.failedEndpointId === null
  return {
    endpointId,
    isSent: true,
    reason: isOpen ? 'it is sent, unless the endpoint that failed is this one' : null,
  }
}

const reasons: Readonly<Record<Exclusion, (routing: TargetRouting, type: string) => string>> = {
  'service-off': ({ kind }) => `the ${kind === 'basic' ? 'basic' : 'advanced'} webhook service is off`,
  'no-url': () => 'it has no URL',
  disabled: () => 'the endpoint is disabled',
  'only-named': () => 'a test is sent only to the endpoint that it names',
  'trigger-off': (_, type) => `the trigger ${type} is off`,
  'filtered-out': (_, type) => `its filterTypes do not have ${type}`,
  'own-failure': () => 'it is about a failure of this endpoint',
  'other-channel': () => 'its channels have neither the organization nor the document',
}
