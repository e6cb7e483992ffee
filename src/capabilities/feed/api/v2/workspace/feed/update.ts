import { json } from '../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../rest/operation.ts'
import { requireChange } from '../../../../../webhooks/api/endpoint-schema.ts'
import { feedLimits } from '../../../../limits.ts'
import { feedConfigAnswer } from '../../../feed-schema.ts'

export const updateFeedConfig = defineOperation({
  path: '/v2/workspace/feed/update',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Configure the change feed',
  description:
    'Changes the given members; at least one is required. A feed that is turned on has all events from the response on. ' +
    'In a cluster, this response takes 5 s. A feed that is turned off loses its events, and its cursors become invalid.',
  request: json.object(
    {},
    {
      enabled: json.boolean('Whether the feed is on.', { examples: [true] }),
      keepSeconds: json.integer('Time for which events are kept; first: one week.', {
        minimum: feedLimits.keepSecondsMin,
        maximum: feedLimits.keepSecondsMax,
      }),
    },
  ),
  response: feedConfigAnswer,
  async handler({ enabled, keepSeconds }, { caller, services }) {
    requireChange({ enabled, keepSeconds })
    const config = await services.feed.configure(caller.tenant, {
      ...(enabled !== undefined && { enabled }),
      ...(keepSeconds !== undefined && { keepSeconds }),
    })
    return {
      message: 'Feed configuration updated.',
      data: { enabled: config.enabled, keepSeconds: config.keepSeconds },
    }
  },
})
