import { invalid } from '../../../../errors.ts'
import { misspelledProtection, unknownTriggers } from '../../../../subscriptions/triggers.ts'
import { defineOperation, warningsOf } from '../../../operation.ts'
import {
  basicAnswer,
  basicChange,
  checkWebhookConfig,
  unknownTrigger,
} from '../../../schemas/webhook-schema.ts'
import { escapePointer, invalidAt } from '../../../validator.ts'

export const updateWebhookConfig = defineOperation({
  path: '/v2/workspace/webhookconfig/update',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Configure the basic webhook service',
  description:
    'Changes what is given, of triggers too; at least one of the two members must be. Where no triggers are stored, ' +
    'enabling the service turns on those of comments, but for suggestions, and of huddles, and what is given goes over ' +
    'that. Events that happen after the answer are told as it says.',
  warns: true,
  request: basicChange,
  response: basicAnswer,
  errors: [],
  async handler({ useWebhookService, webhookServiceConfig }, { caller, services }) {
    if (useWebhookService === undefined && webhookServiceConfig === undefined)
      throw invalid('request/invalid-member', 'useWebhookService or webhookServiceConfig must be given')
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
    return {
      message: 'Webhook configuration updated.',
      data: config,
      ...warningsOf(unknown.map(unknownTrigger)),
    }
  },
})
