import { json } from '../../../../core/base/schema.ts'
import { defineOperation } from '../../../operation.ts'

/** Maximum rate, and maximum burst, that a workspace can have. */
const callsMax = 1_000_000
/** Ratio of the default burst to the rate. */
const burstRatio = 2

export const updateCallLimit = defineOperation({
  path: '/v2/workspace/calllimit/update',
  auth: 'operator',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Limit the calls of a workspace',
  description:
    'Sets how many calls a workspace may make per second, with all its API keys and agents together. The limit applies in ' +
    'addition to the options `callsPerKey` and `callsPerAgent`. Without `callsPerSecond`, the workspace has no limit of ' +
    'its own. Nodes follow within 10 seconds.',
  request: json.object(
    { workspaceId: json.id('The workspace.', { examples: ['ws_example'] }) },
    {
      callsPerSecond: json.integer('Calls per second.', { minimum: 1, maximum: callsMax, examples: [5000] }),
      burst: json.integer('Calls at once after a pause. Default: twice `callsPerSecond`.', {
        minimum: 1,
        maximum: callsMax,
      }),
    },
  ),
  response: null,
  errors: [{ code: 'workspace/not-found', when: 'the workspace does not exist' }],
  async handler({ workspaceId, callsPerSecond, burst }, { services: { workspaces, callQuota } }) {
    const rate =
      callsPerSecond === undefined
        ? null
        : { perSecond: callsPerSecond, burst: burst ?? callsPerSecond * burstRatio }
    await workspaces.limitCalls(workspaceId, rate)
    callQuota.forget(workspaceId)
    return { message: 'Call limit updated.', data: undefined }
  },
})
