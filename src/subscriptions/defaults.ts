import type { AdvancedConfig, BasicConfig } from './webhook-records.ts'

/** The basic service where it was never configured. */
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

/** Advanced webhooks where they were never configured. */
export const noAdvancedConfig: AdvancedConfig = {
  isEnabled: false,
  encryptData: false,
  encodeData: false,
  publicKey: '',
  enableDataProtection: false,
}
