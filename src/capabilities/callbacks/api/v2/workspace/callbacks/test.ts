import { ApiError } from '../../../../../../core/base/errors.ts'
import { type FromSchema, json } from '../../../../../../core/base/schema.ts'
import { accessRoles } from '../../../../../../core/directory/store/records.ts'
import type { DocumentAddress } from '../../../../../../core/model/address.ts'
import { defineOperation } from '../../../../../../rest/operation.ts'
import type { Services } from '../../../../../../rest/services.ts'
import type { CallbacksRecord } from '../../../../../webhooks/callback-records.ts'
import { type CallbackOutcome, callFailures } from '../../../../callback-caller.ts'
import { readDecision } from '../../../../callback-decider.ts'
import { readLoaded } from '../../../../document-loader.ts'
import { noCallbacks } from '../../../callback-schema.ts'

/** The user in a test of `authorize`. */
const testUserId = 'test'

/** The members of a valid response that a test reports. */
const testAnswer = json.object(
  {},
  {
    role: json.orNull(json.choice(accessRoles)),
    ttlSeconds: json.number(),
    notFound: json.boolean(),
    type: json.text(),
    contentKey: json.text(),
    updateBytes: json.integer('Size of a Yjs update.'),
  },
)

type TestAnswer = FromSchema<typeof testAnswer>

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
  request: json.object(
    {
      callback: json.choice(['authorize', 'load'], 'The callback.'),
      organizationId: json.id(),
      documentId: json.id(),
    },
    {
      editorId: { type: 'string', format: 'id', default: 'main' },
      userId: json.id('The user about whom `authorize` is asked.', { default: testUserId }),
    },
  ),
  response: json.object({
    result: json.choice(
      ['answered', ...callFailures],
      '`answered`, or why the call failed, as in the metric `weft_callback_calls_total`.',
    ),
    reason: json.orNull(json.text(), 'Why the call failed; null if it was answered.'),
    durationMs: json.integer('Time of the call in ms, with waits and retries.'),
    answer: json.orNull(testAnswer, 'The answer of the callback; null if the call failed.'),
  }),
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
    const start = services.clock.now()
    const outcome = await callAsTest(services, callback, callbacks, { ...address, userId })
    const durationMs = services.clock.now() - start
    return {
      message: 'The callback was called.',
      data:
        outcome.kind === 'answered'
          ? { result: 'answered' as const, reason: null, durationMs, answer: outcome.answer }
          : { result: outcome.failure, reason: outcome.reason, durationMs, answer: null },
    }
  },
})

/**
 * Calls a callback about an editor; `authorize` about a user without a name and an email address. The call counts in
 * the metrics and in the circuit breakers like all others.
 */
function callAsTest(
  { callbacks: caller, rooms }: Services,
  name: 'authorize' | 'load',
  callbacks: CallbacksRecord,
  { userId, ...address }: DocumentAddress & { readonly userId: string },
): Promise<CallbackOutcome<TestAnswer>> {
  const { organizationId, documentId, editorId } = address
  const editor = { organizationId, documentId, editorId }
  const call = { tenant: address, name, callbacks, subject: 'test' }
  if (name === 'load')
    return caller.call({
      ...call,
      userId: null,
      data: editor,
      read: async (body): Promise<TestAnswer> => {
        const content = await readLoaded(rooms, address, body)
        if (content.kind === 'none') return { notFound: true }
        if (content.kind === 'update') return { updateBytes: content.update.length }
        const { type, contentKey } = content.target
        return { type, ...(contentKey !== undefined && { contentKey }) }
      },
    })
  return caller.call({
    ...call,
    userId,
    data: { ...editor, user: { userId, name: '', email: '' }, agent: null },
    read: async (body): Promise<TestAnswer> => readDecision(body),
  })
}
