import { defineOperation } from '../../../../../rest/operation.ts'
import { addContent } from '../../feed-content.ts'
import { feedErrors, feedQueryOf, feedRequest, feedResponse, furtherCalls } from '../../feed-schema.ts'

export const getFeed = defineOperation({
  path: '/v2/feed/get',
  auth: 'key',
  effect: 'reads',
  strict: true,
  audited: 'read',
  waits: true,
  summary: 'Read the change feed',
  description:
    'Returns the next events of all organizations, or of one, in one total order. To continue, send the `cursor` of the ' +
    'response. A response may have fewer events than requested although more follow: see `isEnd`. An event appears about ' +
    'a second after its cause.',
  request: feedRequest,
  response: feedResponse,
  errors: [...feedErrors, { code: 'limit/exceeded', when: 'too many calls and streams wait for events' }],
  async handler(data, { caller, services, charge }) {
    const { waitSeconds = 0 } = data
    const page = await services.feed.page(caller.tenant, feedQueryOf(data), waitSeconds * 1000)
    charge(furtherCalls(page))
    const sent = await addContent(services, caller.tenant, page, data)
    return { message: `${sent.events.length} events found.`, data: sent }
  },
})
