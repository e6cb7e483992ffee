import { json } from '../../../../../../core/base/schema.ts'
import { defineOperation, warningsOf } from '../../../../../../rest/operation.ts'
import { destinationWarnings, requireChange } from '../../../../../webhooks/api/endpoint-schema.ts'
import {
  callbacksAnswer,
  callbacksChange,
  toCallbacksChange,
  toCallbacksResponse,
} from '../../../callback-schema.ts'

export const updateCallbacks = defineOperation({
  path: '/v2/workspace/callbacks/update',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  warns: true,
  summary: 'Configure callbacks',
  description:
    'Changes the given callbacks; at least one is required. A callback is replaced as a whole; null removes it. The ' +
    'first call creates the signing secret, which only `secret/get` returns.',
  request: json.object({}, callbacksChange),
  response: callbacksAnswer,
  async handler(data, { caller, services }) {
    const change = toCallbacksChange(data)
    requireChange(change)
    const record = await services.webhookConfigs.updateCallbacks(caller.tenant, change)
    const urls = [record.authorize, record.load, record.store].map((callback) => callback?.url)
    return {
      message: 'Callbacks updated.',
      data: toCallbacksResponse(record),
      ...warningsOf(destinationWarnings(services, urls)),
    }
  },
})
