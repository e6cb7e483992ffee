import type { Clock } from '../../core/base/clock.ts'
import { ApiError } from '../../core/base/errors.ts'
import type { Transaction } from '../../core/directory/store/transaction.ts'
import type { OrganizationAddress, Tenant } from '../../core/model/address.ts'
import type { Engine } from '../../core/store/engine.ts'
import type { CallbackName, CallbacksRecord } from './callbacks/callback-records.ts'
import { callbacksRecordType } from './callbacks/callback-records.ts'
import type { GoOn } from './deliveries/delivery-removal.ts'
import { DeliveryRemoval } from './deliveries/delivery-removal.ts'
import { DeliveryService } from './deliveries/delivery-service.ts'
import { DeliveryStore } from './deliveries/delivery-store.ts'
import { allTargetIds } from './deliveries/delivery-targets.ts'
import { EndpointService } from './endpoints/endpoint-service.ts'
import { generateSecret, rotateSecret } from './endpoints/signing-secrets.ts'
import { FeedConfigService } from './feed-config-service.ts'
import { SubscriptionCache } from './subscription-cache.ts'
import { subscriptionKeys as keys } from './subscription-keys.ts'
import { SubscriptionStore } from './subscription-store.ts'
import { WebhookConfigService } from './webhook-config-service.ts'

/** Changes to the callbacks. An absent callback stays unchanged, null removes it. */
type CallbacksChange = { readonly [Name in CallbackName]?: CallbacksRecord[Name] | undefined }

/**
 * Manages the callbacks of API keys. The methods throw ApiError NOT_FOUND if no callbacks are configured,
 * except `update`.
 */
class CallbackConfigService {
  readonly #store: SubscriptionStore
  readonly #clock: Clock

  constructor(store: SubscriptionStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  find(tenant: Tenant): Promise<CallbacksRecord> {
    return requireCallbacks(this.#store.read(tenant))
  }

  /** Changes callbacks. The first change creates the signing secret. */
  update(tenant: Tenant, change: CallbacksChange): Promise<CallbacksRecord> {
    const now = this.#clock.now()
    const none = { authorize: null, load: null, store: null, previousSecret: null, createdAt: now }
    const secret = generateSecret()
    const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
    return this.#store.change(tenant, async (transaction) => {
      const stored = await transaction.get(keys.callbacks, callbacksRecordType)
      const next: CallbacksRecord = { ...none, secret, ...stored, ...given, updatedAt: now }
      transaction.put(keys.callbacks, next)
      return next
    })
  }

  /** Removes all callbacks and the signing secret. */
  delete(tenant: Tenant): Promise<void> {
    return this.#store.change(tenant, async (transaction) => {
      await requireCallbacks(transaction)
      transaction.delete(keys.callbacks)
    })
  }

  /** Replaces the signing secret; see `rotateSecret`. */
  rotateSecret(tenant: Tenant, graceSeconds: number): Promise<CallbacksRecord> {
    const secret = generateSecret()
    return this.#store.change(tenant, async (transaction) => {
      const stored = await requireCallbacks(transaction)
      const next = rotateSecret(stored, secret, graceSeconds, this.#clock.now())
      transaction.put(keys.callbacks, next)
      return next
    })
  }
}

async function requireCallbacks(transaction: Transaction): Promise<CallbacksRecord> {
  const record = await transaction.get(keys.callbacks, callbacksRecordType)
  if (record !== null) return record
  throw new ApiError(
    'callback/not-configured',
    'the API key has no callbacks: configure them with /v2/workspace/callbacks/update',
  )
}

/** Services for the webhook configuration of API keys, and for their deliveries. */
export interface WebhookModule {
  readonly subscriptions: SubscriptionCache
  readonly webhookConfigs: WebhookConfigService
  readonly endpoints: EndpointService
  readonly callbackConfigs: CallbackConfigService
  readonly feedConfigs: FeedConfigService
  readonly deliveries: DeliveryService
  readonly deliveryRemoval: DeliveryRemoval
}

/** @param functions callbacks that are functions of this process; null if there are none */
export function createWebhookModule(
  engine: Pick<Engine, 'kv' | 'bus' | 'foreignChanges'>,
  clock: Clock,
  functions: CallbacksRecord | null = null,
): WebhookModule {
  const { kv, bus } = engine
  const subscriptions = new SubscriptionCache(engine, clock, undefined, functions)
  const store = new SubscriptionStore({ kv, bus, subscriptions })
  const deliveryStore = new DeliveryStore(kv)
  return {
    subscriptions,
    webhookConfigs: new WebhookConfigService(store),
    endpoints: new EndpointService(store, clock),
    callbackConfigs: new CallbackConfigService(store, clock),
    feedConfigs: new FeedConfigService(store),
    deliveries: new DeliveryService({ store: deliveryStore, bus, clock }),
    deliveryRemoval: new DeliveryRemoval(deliveryStore),
  }
}

/**
 * Removes the messages for events of an organization.
 * @param goOn called between commits; throws if the removal must stop
 */
export async function removeDeliveries(
  { kv }: Pick<Engine, 'kv'>,
  { deliveryRemoval }: WebhookModule,
  scope: OrganizationAddress,
  goOn: GoOn,
): Promise<void> {
  await deliveryRemoval.forget(scope, await allTargetIds(kv, scope), goOn)
}
