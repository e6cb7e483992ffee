import { defineOperation } from '../../../../../../rest/operation.ts'
import { requireChange } from '../../../endpoint-schema.ts'
import { advancedAnswer, advancedChange, checkWebhookConfig } from '../../../webhook-schema.ts'

export const updateAdvancedWebhookConfig = defineOperation({
  path: '/v2/workspace/advancedwebhookconfig/update',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Change the configuration of all webhook endpoints',
  description:
    'Changes the given members; at least one member is required. While they are disabled endpoints are kept, can be neither ' +
    'read nor changed, and are sent nothing.',
  request: advancedChange,
  response: advancedAnswer,
  errors: [{ code: 'webhook/never-configured', when: 'it is the first call and `isEnabled` is not true' }],
  async handler(data, { caller, services }) {
    const { isEnabled, encryptData, encodeData, publicKey, enableDataProtection } = data
    const change = { isEnabled, encryptData, encodeData, publicKey, enableDataProtection }
    requireChange(change)
    checkWebhookConfig('/data', publicKey === undefined ? {} : { publicKey })
    const config = await services.webhookConfigs.updateAdvanced(caller.tenant, change)
    return { message: 'Advanced webhook configuration updated.', data: config }
  },
})
