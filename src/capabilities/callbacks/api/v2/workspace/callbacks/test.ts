import { ApiError } from '../../../../../../core/base/errors.ts'
import { accessRoles } from '../../../../../../core/directory/store/records.ts'
import { defineOperation } from '../../../../../../rest/operation.ts'
import { nullable } from '../../../../../subscriptions/api/endpoint-schema.ts'
import { callFailures } from '../../../../callback-caller.ts'
import { noCallbacks } from '../../../callback-schema.ts'

/** The user in a test of `authorize`. */
const testUserId = 'test'

export const testCallback = defineOperation({
  path: '/v2/workspace/callbacks/test',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Call a callback as a test',
  description:
    'Calls `authorize` or `load` as a client would cause it, with the timeout and the retries of the callback, and ' +
    'returns the result. The response of the callback changes nothing; its content is read, but not checked against a ' +
    'schema. The call counts like all others: after repeated failures, the callback is paused.',
  request: {
    type: 'object',
    required: ['callback', 'organizationId', 'documentId'],
    properties: {
      callback: { type: 'string', enum: ['authorize', 'load'], description: 'The callback.' },
      organizationId: { type: 'string', format: 'id' },
      documentId: { type: 'string', format: 'id' },
      editorId: { type: 'string', format: 'id', default: 'main' },
      userId: {
        type: 'string',
        format: 'id',
        default: testUserId,
        description: 'The user about whom `authorize` is asked.',
      },
    },
  },
  response: {
    type: 'object',
    required: ['result', 'reason', 'durationMs', 'answer'],
    properties: {
      result: {
        type: 'string',
        enum: ['answered', ...callFailures],
        description: '`answered`, or why the call failed, as in the metric `weft_callback_calls_total`.',
      },
      reason: {
        ...nullable({ type: 'string' }),
        description: 'Why the call failed; null if it was answered.',
      },
      durationMs: { type: 'integer', description: 'Time of the call in ms, with waits and retries.' },
      answer: {
        ...nullable({
          type: 'object',
          properties: {
            role: nullable({ type: 'string', enum: accessRoles }),
            ttlSeconds: { type: 'number' },
            notFound: { type: 'boolean' },
            type: { type: 'string' },
            contentKey: { type: 'string' },
            updateBytes: { type: 'integer', description: 'Size of a Yjs update.' },
          },
        }),
        description: 'The answer of the callback; null if the call failed.',
      },
    },
  },
  errors: [noCallbacks],
  async handler(data, { caller, services }) {
    const { callback, organizationId, documentId, editorId = 'main', userId = testUserId } = data
    const { tenant } = caller
    const callbacks = await services.callbackConfigs.find(tenant)
    if (callbacks[callback] === null)
      throw new ApiError(
        'callback/not-configured',
        `the API key has no callback ${callback}; configure it first`,
      )
    const address = { ...tenant, organizationId, documentId, editorId }
    const result = await services.callbackTester.test(callback, callbacks, address, userId)
    return { message: 'The callback was called.', data: result }
  },
})
