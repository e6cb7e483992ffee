import type { Clock } from '../../core/base/clock.ts'
import { ApiError } from '../../core/base/errors.ts'
import type { Transaction } from '../../core/directory/store/transaction.ts'
import type { Tenant } from '../../core/model/address.ts'
import { generateSecret, rotateSecret } from '../../core/outgoing/sign.ts'
import { type CallbacksRecord, callbacksRecordType } from './callback-records.ts'
import type { SubscriptionStore } from './subscription-store.ts'
import { given } from './webhook-config-service.ts'
import { subscriptionKeys as keys } from './webhook-records.ts'

/** Changes to the callbacks. An absent callback stays unchanged, null removes it. */
type CallbacksChange = {
  readonly [Name in 'authorize' | 'load' | 'store']?: CallbacksRecord[Name] | undefined
}

/**
 * Manages the callbacks of API keys. The methods throw ApiError NOT_FOUND if no callbacks are configured,
 * except `update`.
 */
export class CallbackConfigService {
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
    return this.#store.change(tenant, async (transaction) => {
      const stored = await transaction.get(keys.callbacks, callbacksRecordType)
      const next: CallbacksRecord = { ...none, secret, ...stored, ...given(change), updatedAt: now }
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
