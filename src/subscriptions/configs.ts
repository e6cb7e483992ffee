import type { Transaction } from '../directory/transaction.ts'
import { ApiError, invalid } from '../errors.ts'
import type { Tenant } from '../model/address.ts'
import { noAdvancedConfig, noBasicConfig } from './defaults.ts'
import { subscriptionKeys as keys } from './keys.ts'
import type { AdvancedConfig, BasicConfig, BasicServiceConfig } from './records.ts'
import type { SubscriptionStore } from './store.ts'
import { hasTriggers, mergeTriggers, type TriggerChange } from './triggers.ts'

type Changed<T> = { readonly [K in keyof T]?: T[K] | undefined }

/** What is left out stays. */
export interface BasicChange {
  readonly useWebhookService?: boolean | undefined
  readonly webhookServiceConfig?:
    | (Changed<Omit<BasicServiceConfig, 'triggers'>> & { readonly triggers?: TriggerChange | undefined })
    | undefined
}

/** What is left out stays. */
export type AdvancedChange = Changed<AdvancedConfig>

/** The basic webhook service of API keys, and what holds for all their advanced endpoints. */
export class WebhookConfigs {
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
   * @throws ApiError INVALID_ARGUMENT when it would encrypt without a key; then nothing is changed
   */
  updateBasic(tenant: Tenant, change: BasicChange): Promise<BasicConfig> {
    return this.#store.change(tenant, async (transaction) => {
      const stored = (await transaction.get<BasicConfig>(keys.basic)) ?? noBasicConfig
      const next = changedBasic(stored, change)
      checkEncryption(next.webhookServiceConfig)
      transaction.put(keys.basic, next)
      return next
    })
  }

  /**
   * @throws ApiError FAILED_PRECONDITION when it is the first change and does not enable them; INVALID_ARGUMENT when they
   * would encrypt without a key; then nothing is changed
   */
  updateAdvanced(tenant: Tenant, change: AdvancedChange): Promise<AdvancedConfig> {
    return this.#store.change(tenant, async (transaction) => {
      const stored = await transaction.get<AdvancedConfig>(keys.advanced)
      if (stored === null && change.isEnabled !== true)
        throw new ApiError('FAILED_PRECONDITION', `${neverConfigured}: begin with isEnabled true`)
      const next = { ...(stored ?? noAdvancedConfig), ...given(change) }
      checkEncryption(next)
      transaction.put(keys.advanced, next)
      return next
    })
  }
}

const neverConfigured = 'advanced webhooks were never configured'

/** @throws ApiError FAILED_PRECONDITION unless advanced webhooks are enabled */
export async function checkAdvanced(transaction: Transaction): Promise<void> {
  const config = await transaction.get<AdvancedConfig>(keys.advanced)
  if (config === null) throw new ApiError('FAILED_PRECONDITION', neverConfigured)
  if (!config.isEnabled) throw new ApiError('FAILED_PRECONDITION', 'advanced webhooks are disabled')
}

/** With those members that there are: callers send others, too. */
function changedBasic(stored: BasicConfig, change: BasicChange): BasicConfig {
  const { useWebhookService = stored.useWebhookService, webhookServiceConfig = {} } = change
  const { triggers = {}, encodeData, encryptData, publicKey, ...others } = webhookServiceConfig
  const { authToken, rawNotificationUrl, processedNotificationUrl } = others
  const { webhookServiceConfig: config } = stored
  const isSeeding = change.useWebhookService === true && !hasTriggers(config.triggers)
  const wrapping = { encodeData, encryptData, publicKey }
  return {
    useWebhookService,
    webhookServiceConfig: {
      ...config,
      ...given({ authToken, rawNotificationUrl, processedNotificationUrl, ...wrapping }),
      triggers: mergeTriggers(config.triggers, triggers, isSeeding),
    },
  }
}

function checkEncryption({
  encryptData,
  publicKey,
}: Pick<AdvancedConfig, 'encryptData' | 'publicKey'>): void {
  if (encryptData && publicKey === '') throw invalid('encryptData needs a publicKey')
}

/** What a change says, without what it leaves out. */
const given = <T extends object>(change: T): { readonly [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as {
    readonly [K in keyof T]?: Exclude<T[K], undefined>
  }
