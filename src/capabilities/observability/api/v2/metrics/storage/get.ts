import { json } from '../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../rest/operation.ts'
import { maySeeMetrics, metricsTokenMember } from '../../../metrics-access.ts'

export const getStorageMetrics = defineOperation({
  path: '/v2/metrics/storage/get',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'Read the stored bytes of the workspace',
  description:
    'Returns how many bytes the workspace of the API key stores, and its limit. The server measures a workspace without ' +
    'a limit only on request, at most once in 5 minutes. If the server has a metrics token, the request must contain ' +
    'it. Without a metrics token, a server with several API keys returns no values.',
  request: json.object({}, metricsTokenMember),
  response: json.object(
    {},
    {
      storedBytes: json.integer('Bytes that the workspace stores (an estimate).'),
      storedBytesMax: json.integer('Bytes that the workspace may store; absent if it has no storage limit.'),
    },
  ),
  errors: [{ code: 'auth/metrics-token', when: 'the request lacks the metrics token' }],
  async handler({ metricsToken }, { caller, services }) {
    const usage = (await maySeeMetrics(metricsToken, services))
      ? await services.storage.measured(caller.tenant.workspaceId)
      : null
    if (usage === null) return { message: 'The stored bytes are not available.', data: {} }
    const { storedBytes, storedBytesMax } = usage
    return {
      message: 'Stored bytes found.',
      data: { storedBytes, ...(storedBytesMax > 0 && { storedBytesMax }) },
    }
  },
})
