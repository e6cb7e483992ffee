import type { Transaction } from '../directory/store/transaction.ts'
import { ApiError, invalid } from '../errors.ts'
import type { Tenant } from '../model/address.ts'
import { noAdvancedConfig, noBasicConfig } from './defaults.ts'
import { subscriptionLimits as limits } from './limits.ts'
import { subscriptionKeys as keys } from './subscription-keys.ts'
import type { SubscriptionStore } from './subscription-store.ts'
import { hasTriggers, mergeTriggers } from './triggers.ts'
import type { AdvancedConfig, BasicConfig, BasicServiceConfig, Triggers } from './webhook-records.ts'

type ChangedFields<T> = { readonly [K in keyof T]?: T[K] | undefined }

/** What is left out stays. */
export interface BasicConfigPatch {
  readonly useWebhookService?: boolean | undefined
  readonly webhookServiceConfig?: ChangedFields<BasicServiceConfig> | undefined
}

/** What is left out stays. */
export type AdvancedConfigPatch = ChangedFields<AdvancedConfig>

/** The basic webhook service of API keys, and what holds for all their advanced endpoints. */
export class WebhookConfigService {
  readonly #store: SubscriptionStore

  constructor(store: SubscriptionStore) {
    this.#store = store
  }

  async basic(tenant: Tenant): Promise<BasicConfig> {
    return (await this.#store.read(tenant).get<BasicConfig>(keys.basic)) ?? noBasicConfig
  }

  async advanced(tenant: Tenant): Promise<AdvancedConfig> {
    return (await this.#store.read(tenant).get<AdvancedConfig>(keys.advanced)) ?? noAdvancedConfig
  }

  /**
   * Enabling the service where no triggers are stored begins with the default ones.
   * @throws ApiError INVALID_ARGUMENT when it would encrypt without a key, or there would be too many triggers; then
   * nothing is changed
   */
  updateBasic(tenant: Tenant, change: BasicConfigPatch): Promise<BasicConfig> {
    return this.#store.change(tenant, async (transaction) => {
      const stored = (await transaction.get<BasicConfig>(keys.basic)) ?? noBasicConfig
      const next = changedBasic(stored, change)
      checkEncryption(next.webhookServiceConfig)
      checkTriggers(next.webhookServiceConfig.triggers)
      transaction.put(keys.basic, next)
      return next
    })
  }

  /**
   * @throws ApiError FAILED_PRECONDITION when it is the first change and does not enable them; INVALID_ARGUMENT when they
   * would encrypt without a key; then nothing is changed
   */
  updateAdvanced(tenant: Tenant, change: AdvancedConfigPatch): Promise<AdvancedConfig> {
    return this.#store.change(tenant, async (transaction) => {
      const stored = await transaction.get<AdvancedConfig>(keys.advanced)
      if (stored === null && change.isEnabled !== true) throw neverConfigured()
      const next = { ...(stored ?? noAdvancedConfig), ...given(change) }
      checkEncryption(next)
      transaction.put(keys.advanced, next)
      return next
    })
  }
}

const neverConfigured = (): ApiError =>
  new ApiError(
    'webhook/never-configured',
    'advanced webhooks were never configured: begin with isEnabled true in advancedwebhookconfig/update',
  )

/** @throws ApiError FAILED_PRECONDITION unless advanced webhooks are enabled */
export async function checkAdvanced(transaction: Transaction): Promise<void> {
  const config = await transaction.get<AdvancedConfig>(keys.advanced)
  if (config === null) throw neverConfigured()
  if (!config.isEnabled)
    throw new ApiError(
      'webhook/disabled',
      'advanced webhooks are disabled: set isEnabled in advancedwebhookconfig/update',
    )
}

/** With those members that there are: callers send others, too. */
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

/** What a change says, without what it leaves out. */
const given = <T extends object>(change: T): { readonly [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as {
    readonly [K in keyof T]?: Exclude<T[K], undefined>
  }
