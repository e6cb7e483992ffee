import { json } from '../../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../../rest/operation.ts'
import { callbackSecretAnswer, noCallbacks } from '../../../../callback-schema.ts'

export const getCallbackSecret = defineOperation({
  path: '/v2/workspace/callbacks/secret/get',
  auth: 'key',
  effect: 'reads',
  audited: 'admin',
  summary: 'Read the signing secret of the callbacks',
  description: 'Anyone with the secret can forge calls of the callbacks.',
  request: json.object({}),
  response: callbackSecretAnswer,
  errors: [noCallbacks],
  async handler(_data, { caller, services }) {
    const { secret } = await services.webhookConfigs.callbacks(caller.tenant)
    return { message: 'Secret found.', data: { secret } }
  },
})
