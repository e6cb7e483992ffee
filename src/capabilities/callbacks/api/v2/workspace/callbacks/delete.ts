import { json } from '../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../rest/operation.ts'
import { noCallbacks } from '../../../callback-schema.ts'

export const deleteCallbacks = defineOperation({
  path: '/v2/workspace/callbacks/delete',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Remove all callbacks',
  description: 'Also deletes the signing secret. Weft calls no callback of the API key any more.',
  request: json.object({}),
  response: null,
  errors: [noCallbacks],
  async handler(_data, { caller, services }) {
    await services.webhookConfigs.deleteCallbacks(caller.tenant)
    return { message: 'Callbacks deleted.', data: undefined }
  },
})
