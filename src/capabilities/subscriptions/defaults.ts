import type { AdvancedConfig, BasicConfig } from './webhook-records.ts'

/** Configuration of the basic service before the first change. */
export const noBasicConfig: BasicConfig = {
  useWebhookService: false,
  webhookServiceConfig: {
    authToken: '',
    rawNotificationUrl: '',
    processedNotificationUrl: '',
    encodeData: false,
    encryptData: false,
    publicKey: '',
    triggers: {},
  },
}

/** Configuration of advanced webhooks before the first change. */
export const noAdvancedConfig: AdvancedConfig = {
  isEnabled: false,
  encryptData: false,
  encodeData: false,
  publicKey: '',
  enableDataProtection: false,
}
