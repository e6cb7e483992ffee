import { json } from '../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../rest/operation.ts'
import { advancedAnswer } from '../../../webhook-schema.ts'

export const getAdvancedWebhookConfig = defineOperation({
  path: '/v2/workspace/advancedwebhookconfig/get',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'Read the configuration of all webhook endpoints',
  description: 'Before the first configuration: `false` and an empty `publicKey`.',
  request: json.object({}),
  response: advancedAnswer,
  errors: [],
  async handler(_data, { caller, services }) {
    return {
      message: 'Advanced webhook configuration found.',
      data: await services.webhookConfigs.advanced(caller.tenant),
    }
  },
})
