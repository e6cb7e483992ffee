import { json } from '../../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../../rest/operation.ts'
import { advancedOff, endpointId, noSuchEndpoint } from '../../../../endpoint-schema.ts'

export const deleteEndpoint = defineOperation({
  path: '/v2/workspace/advancedwebhook/endpoints/delete',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Delete a webhook endpoint',
  description: 'Stops all deliveries to the endpoint, including queued ones. Its `uid` can be used again.',
  request: json.object({ endpointId }),
  response: json.object({ endpointId: json.text('Id of the endpoint.'), deleted: json.boolean('True.') }),
  errors: [...advancedOff, noSuchEndpoint],
  async handler({ endpointId }, { caller, services }) {
    const { id } = await services.endpoints.delete(caller.tenant, endpointId)
    return { message: 'Endpoint deleted.', data: { endpointId: id, deleted: true } }
  },
})
