import { json } from '../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../rest/operation.ts'
import { feedConfigAnswer } from '../../../feed-schema.ts'

export const getFeedConfig = defineOperation({
  path: '/v2/workspace/feed/get',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'Read the configuration of the change feed',
  description: 'Before the first configuration, the feed is off.',
  request: json.object({}),
  response: feedConfigAnswer,
  async handler(_data, { caller, services }) {
    const { enabled, keepSeconds } = await services.feed.config(caller.tenant)
    return { message: 'Feed configuration found.', data: { enabled, keepSeconds } }
  },
})
