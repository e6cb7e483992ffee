import { json } from '../../../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../../../rest/operation.ts'
import { advancedOff, endpointId, noSuchEndpoint, secretAnswer } from '../../../../../endpoint-schema.ts'

export const getEndpointSecret = defineOperation({
  path: '/v2/workspace/advancedwebhook/endpoints/secret/get',
  auth: 'key',
  effect: 'reads',
  audited: 'admin',
  summary: 'Read the signing secret of a webhook endpoint',
  description: 'Anyone with the secret can forge events for the endpoint.',
  request: json.object({ endpointId }),
  response: secretAnswer,
  errors: [...advancedOff, noSuchEndpoint],
  async handler({ endpointId }, { caller, services }) {
    const { id, secret } = await services.endpoints.find(caller.tenant, endpointId)
    return { message: 'Secret found.', data: { endpointId: id, secret } }
  },
})
