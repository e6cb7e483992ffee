import type { Clock } from '../clock.ts'
import type { Engine } from '../engine/engine.ts'
import type { OrganizationAddress } from '../model/address.ts'
import { WebhookConfigs } from './configs.ts'
import { Deliveries } from './deliveries.ts'
import { DeliveryRemoval, type GoOn } from './delivery-removal.ts'
import { DeliveryStore } from './delivery-store.ts'
import { allTargetIds } from './delivery-targets.ts'
import { Endpoints } from './endpoints.ts'
import { SubscriptionStore } from './store.ts'
import { Subscriptions } from './subscriptions.ts'

/** Who wants to be told of what, and what has become of it. */
export interface Subscribing {
  readonly subscriptions: Subscriptions
  readonly webhookConfigs: WebhookConfigs
  readonly endpoints: Endpoints
  readonly deliveries: Deliveries
  readonly deliveryRemoval: DeliveryRemoval
}

export function createSubscribing(engine: Pick<Engine, 'kv' | 'bus' | 'cluster'>, clock: Clock): Subscribing {
  const { kv, bus } = engine
  const subscriptions = new Subscriptions(engine, clock)
  const store = new SubscriptionStore({ kv, bus, subscriptions })
  const deliveryStore = new DeliveryStore(kv)
  return {
    subscriptions,
    webhookConfigs: new WebhookConfigs(store),
    endpoints: new Endpoints(store, clock),
    deliveries: new Deliveries({ store: deliveryStore, bus, clock }),
    deliveryRemoval: new DeliveryRemoval(deliveryStore),
  }
}

/** Removes what is kept of what was told of an organization. @param goOn called between bounded slices */
export async function forgetDeliveries(
  { kv }: Pick<Engine, 'kv'>,
  { deliveryRemoval }: Subscribing,
  scope: OrganizationAddress,
  goOn: GoOn,
): Promise<void> {
  await deliveryRemoval.forget(scope, await allTargetIds(kv, scope), goOn)
}
