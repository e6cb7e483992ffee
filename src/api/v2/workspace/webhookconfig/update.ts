import { invalid } from '../../../../errors.ts'
import { operation } from '../../../operation.ts'
import { basicAnswer, basicChange, checkWebhookConfig } from '../../../webhook-schema.ts'

export const updateWebhookConfig = operation({
  path: '/v2/workspace/webhookconfig/update',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Configure the basic webhook service',
  description:
    'Changes what is given, of triggers too; at least one of the two members must be. Where no triggers are stored, ' +
    'enabling the service turns on those of comments, but for suggestions, and of huddles, and what is given goes over ' +
    'that. Events that happen after the answer are told as it says.',
  request: basicChange,
  response: basicAnswer,
  errors: [],
  async handler({ useWebhookService, webhookServiceConfig }, { caller, services }) {
    if (useWebhookService === undefined && webhookServiceConfig === undefined)
      throw invalid('useWebhookService or webhookServiceConfig must be given')
    checkWebhookConfig('/data/webhookServiceConfig', webhookServiceConfig ?? {})
    const change = { useWebhookService, webhookServiceConfig }
    const config = await services.webhookConfigs.updateBasic(caller.tenant, change)
    return { message: 'Webhook configuration updated.', data: config }
  },
})
