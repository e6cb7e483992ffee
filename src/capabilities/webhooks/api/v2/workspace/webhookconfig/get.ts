import { json } from '../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../rest/operation.ts'
import { basicAnswer } from '../../../webhook-schema.ts'

export const getWebhookConfig = defineOperation({
  path: '/v2/workspace/webhookconfig/get',
  auth: 'key',
  effect: 'reads',
  audited: 'admin',
  summary: 'Read the configuration of the basic webhook service',
  description: 'Before the first configuration: `false`, empty strings and no triggers.',
  request: json.object({}),
  response: basicAnswer,
  errors: [],
  async handler(_data, { caller, services }) {
    return {
      message: 'Webhook configuration found.',
      data: await services.webhookConfigs.basic(caller.tenant),
    }
  },
})
