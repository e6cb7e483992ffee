import { advancedOff, endpointId, noSuchEndpoint, secretAnswer } from '../../../../../endpoint-schema.ts'
import { operation } from '../../../../../operation.ts'

export const getEndpointSecret = operation({
  path: '/v2/workspace/advancedwebhook/endpoints/secret/get',
  auth: 'key',
  effect: 'reads',
  audited: 'admin',
  summary: 'Read the signing secret of a webhook endpoint',
  description: 'Who has it can forge what the endpoint is sent.',
  request: { type: 'object', required: ['endpointId'], properties: { endpointId } },
  response: secretAnswer,
  errors: [advancedOff, noSuchEndpoint],
  async handler({ endpointId }, { caller, services }) {
    const { id, secret } = await services.endpoints.find(caller.tenant, endpointId)
    return { message: 'Secret found.', data: { endpointId: id, secret } }
  },
})
