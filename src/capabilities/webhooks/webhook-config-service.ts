import type { Clock } from '../../core/base/clock.ts'
import { ApiError, invalid } from '../../core/base/errors.ts'
import type { Transaction } from '../../core/directory/store/transaction.ts'
import type { Tenant } from '../../core/model/address.ts'
import { generateSecret, rotateSecret } from '../../core/outgoing/sign.ts'
import { type CallbacksRecord, callbacksRecordType } from './callback-records.ts'
import { subscriptionLimits as limits } from './limits.ts'
import type { SubscriptionCache } from './subscription-cache.ts'
import { hasTriggers, mergeTriggers } from './triggers.ts'
import {
  type AdvancedConfig,
  advancedConfigType,
  type BasicConfig,
  type BasicServiceConfig,
  basicConfigType,
  type FeedConfig,
  feedConfigType,
  subscriptionKeys as keys,
  noAdvancedConfig,
  noBasicConfig,
  noFeedConfig,
  type Triggers,
} from './webhook-records.ts'

/** Changes to the callbacks. An absent callback stays unchanged, null removes it. */
type CallbacksChange = PatchOf<Pick<CallbacksRecord, 'authorize' | 'load' | 'store'>>

function configured(record: CallbacksRecord | null): CallbacksRecord {
  if (record !== null) return record
  throw new ApiError(
    'callback/not-configured',
    'the API key has no callbacks: configure them with /v2/workspace/callbacks/update',
  )
}

export type PatchOf<T> = { readonly [K in keyof T]?: T[K] | undefined }

/** A change of the basic service's configuration. Absent members stay unchanged. */
export interface BasicConfigPatch {
  readonly useWebhookService?: boolean | undefined
  readonly webhookServiceConfig?: PatchOf<BasicServiceConfig> | undefined
}

/** A change of the advanced service's configuration. Absent members stay unchanged. */
type AdvancedConfigPatch = PatchOf<AdvancedConfig>

/**
 * Manages the basic webhook service of API keys, the configuration that all advanced endpoints of a key have in common,
 * and the callbacks and the feed of a key.
 */
export class WebhookConfigService {
  readonly #store: SubscriptionCache
  readonly #clock: Clock

  constructor(store: SubscriptionCache, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  async basic(tenant: Tenant): Promise<BasicConfig> {
    return (await this.#store.read(tenant).get(keys.basic, basicConfigType)) ?? noBasicConfig
  }

  async advanced(tenant: Tenant): Promise<AdvancedConfig> {
    return (await this.#store.read(tenant).get(keys.advanced, advancedConfigType)) ?? noAdvancedConfig
  }

  /**
   * Changes the configuration of the basic service. If the change enables the service and no triggers are
   * stored, stores the default triggers.
   * @throws ApiError INVALID_ARGUMENT if the service would encrypt without a key, or if there are too many
   * triggers; in both cases nothing has changed
   */
  updateBasic(tenant: Tenant, change: BasicConfigPatch): Promise<BasicConfig> {
    return this.#store.changeRecord(tenant, keys.basic, basicConfigType, (stored) => {
      const next = changedBasic(stored ?? noBasicConfig, change)
      checkEncryption(next.webhookServiceConfig)
      checkTriggers(next.webhookServiceConfig.triggers)
      return next
    })
  }

  /**
   * Changes the configuration of the advanced service.
   * @throws ApiError FAILED_PRECONDITION if the first change does not enable the service; INVALID_ARGUMENT if
   * the service would encrypt without a key. In both cases nothing has changed
   */
  updateAdvanced(tenant: Tenant, change: AdvancedConfigPatch): Promise<AdvancedConfig> {
    return this.#store.changeRecord(tenant, keys.advanced, advancedConfigType, (stored) => {
      if (stored === null && change.isEnabled !== true) throw neverConfigured()
      const next = { ...(stored ?? noAdvancedConfig), ...given(change) }
      checkEncryption(next)
      return next
    })
  }

  async feed(tenant: Tenant): Promise<FeedConfig> {
    return (await this.#store.read(tenant).get(keys.feed, feedConfigType)) ?? noFeedConfig
  }

  /** Changes the given members. @throws ApiError ABORTED if conflicts with concurrent changes continue */
  updateFeed(tenant: Tenant, change: Partial<FeedConfig>): Promise<FeedConfig> {
    return this.#store.changeRecord(tenant, keys.feed, feedConfigType, (stored) => ({
      ...(stored ?? noFeedConfig),
      ...change,
    }))
  }

  /** @throws ApiError NOT_FOUND if no callbacks are configured */
  async callbacks(tenant: Tenant): Promise<CallbacksRecord> {
    return configured(await this.#store.read(tenant).get(keys.callbacks, callbacksRecordType))
  }

  /** Changes callbacks. The first change creates the signing secret. */
  updateCallbacks(tenant: Tenant, change: CallbacksChange): Promise<CallbacksRecord> {
    const now = this.#clock.now()
    const none = { authorize: null, load: null, store: null, previousSecret: null, createdAt: now }
    const first = { ...none, secret: generateSecret() }
    return this.#store.changeRecord(tenant, keys.callbacks, callbacksRecordType, (stored) => ({
      ...first,
      ...stored,
      ...given(change),
      updatedAt: now,
    }))
  }

  /** Removes all callbacks and the signing secret. @throws like `callbacks` */
  deleteCallbacks(tenant: Tenant): Promise<void> {
    return this.#store.change(tenant, async (transaction) => {
      configured(await transaction.get(keys.callbacks, callbacksRecordType))
      transaction.delete(keys.callbacks)
    })
  }

  /** Replaces the signing secret of the callbacks; see `rotateSecret`. @throws like `callbacks` */
  rotateCallbackSecret(tenant: Tenant, graceSeconds: number): Promise<CallbacksRecord> {
    const secret = generateSecret()
    return this.#store.changeRecord(tenant, keys.callbacks, callbacksRecordType, (stored) =>
      rotateSecret(configured(stored), secret, graceSeconds, this.#clock.now()),
    )
  }
}

const neverConfigured = (): ApiError =>
  new ApiError(
    'webhook/never-configured',
    'advanced webhooks were never configured: begin with isEnabled true in advancedwebhookconfig/update',
  )

/** Checks that advanced webhooks are enabled. @throws ApiError FAILED_PRECONDITION if they are not */
export async function checkAdvanced(transaction: Transaction): Promise<void> {
  const config = await transaction.get(keys.advanced, advancedConfigType)
  if (config === null) throw neverConfigured()
  if (!config.isEnabled)
    throw new ApiError(
      'webhook/disabled',
      'advanced webhooks are disabled: set isEnabled in advancedwebhookconfig/update',
    )
}

/**
 * Returns the configuration after a change. Copies only the known members, because a change may contain other
 * members.
 */
function changedBasic(stored: BasicConfig, change: BasicConfigPatch): BasicConfig {
  const { useWebhookService = stored.useWebhookService, webhookServiceConfig = {} } = change
  const {
    triggers = {},
    enableDataProtection: beside,
    encodeData,
    encryptData,
    publicKey,
    ...others
  } = webhookServiceConfig
  const { authToken, rawNotificationUrl, processedNotificationUrl } = others
  const { webhookServiceConfig: config } = stored
  const isSeeding = change.useWebhookService === true && !hasTriggers(config.triggers)
  const wrapping = { encodeData, encryptData, publicKey }
  const protection =
    beside === undefined ? {} : { enableDataProtection: beside || triggers.enableDataProtection === true }
  const merged = mergeTriggers(config.triggers, { ...triggers, ...protection }, isSeeding)
  return {
    useWebhookService,
    webhookServiceConfig: {
      ...config,
      ...given({ authToken, rawNotificationUrl, processedNotificationUrl, ...wrapping }),
      ...((beside ?? config.enableDataProtection) !== undefined && {
        enableDataProtection: merged.enableDataProtection === true,
      }),
      triggers: merged,
    },
  }
}

function checkTriggers(triggers: Triggers): void {
  if (Buffer.byteLength(JSON.stringify(triggers)) > limits.triggersBytes)
    throw invalid(
      'request/invalid-member',
      `all triggers together must be at most ${limits.triggersBytes} bytes as JSON`,
    )
}

function checkEncryption({
  encryptData,
  publicKey,
}: Pick<AdvancedConfig, 'encryptData' | 'publicKey'>): void {
  if (encryptData && publicKey === '')
    throw invalid('webhook/public-key-missing', 'encryptData needs a publicKey')
}

/** Returns the members of a change whose value is not undefined. */
export const given = <T extends object>(change: T) =>
  Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as {
    readonly [K in keyof T]?: Exclude<T[K], undefined>
  }
