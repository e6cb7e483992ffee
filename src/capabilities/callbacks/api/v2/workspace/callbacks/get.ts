import { json } from '../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../rest/operation.ts'
import { callbacksAnswer, noCallbacks, toCallbacksResponse } from '../../../callback-schema.ts'

export const getCallbacks = defineOperation({
  path: '/v2/workspace/callbacks/get',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'Read the callbacks',
  description: 'A callback that is not configured is null.',
  request: json.object({}),
  response: callbacksAnswer,
  errors: [noCallbacks],
  async handler(_data, { caller, services }) {
    const record = await services.webhookConfigs.callbacks(caller.tenant)
    return { message: 'Callbacks found.', data: toCallbacksResponse(record) }
  },
})
