import { escapePointer } from '../../../../../../core/base/json.ts'
import { defineOperation, warningsOf } from '../../../../../../rest/operation.ts'
import { invalidAt } from '../../../../../../rest/validator.ts'
import { misspelledProtection, unknownTriggers } from '../../../../triggers.ts'
import { destinationWarnings, requireChange } from '../../../endpoint-schema.ts'
import { basicAnswer, basicChange, checkWebhookConfig, unknownTrigger } from '../../../webhook-schema.ts'

export const updateWebhookConfig = defineOperation({
  path: '/v2/workspace/webhookconfig/update',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Configure the basic webhook service',
  description:
    'Changes the given members and triggers; one of the two members is required. If no triggers are stored, enabling ' +
    'the service turns on the triggers of comments, except suggestions, and of huddles; given triggers take ' +
    'precedence. The change applies to events after the response.',
  warns: true,
  request: basicChange,
  response: basicAnswer,
  errors: [],
  async handler({ useWebhookService, webhookServiceConfig }, { caller, services }) {
    requireChange({ useWebhookService, webhookServiceConfig })
    checkWebhookConfig('/data/webhookServiceConfig', webhookServiceConfig ?? {})
    const misspelled = misspelledProtection(webhookServiceConfig?.triggers ?? {})
    if (misspelled !== undefined)
      throw invalidAt({
        path: `/data/webhookServiceConfig/triggers/${escapePointer(misspelled)}`,
        message: 'is unknown (did you mean enableDataProtection?)',
      })
    const change = { useWebhookService, webhookServiceConfig }
    const config = await services.webhookConfigs.updateBasic(caller.tenant, change)
    const unknown = unknownTriggers(config.webhookServiceConfig.triggers)
    const { rawNotificationUrl, processedNotificationUrl } = config.webhookServiceConfig
    const urls = [rawNotificationUrl, processedNotificationUrl]
    return {
      message: 'Webhook configuration updated.',
      data: config,
      ...warningsOf([...unknown.map(unknownTrigger), ...destinationWarnings(services, urls)]),
    }
  },
})
