import { recentPageMax } from '../../../core/audit/recent-requests.ts'
import { json } from '../../../core/base/schema.ts'
import { defineOperation } from '../../operation.ts'
import { answerPage, pageRequest, pageSizeUpTo } from '../../paging/page-request.ts'

const path = '/v2/requests/get'

const kinds = ['rest', 'websocket'] as const

export const getRequests = defineOperation({
  path,
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'List recent requests and rejections',
  description:
    'The latest calls of the API key, and the latest calls and websockets that the server rejected, with the reason, on ' +
    'all nodes of the cluster, the latest first. Equal requests share an entry with their number. Each node keeps them ' +
    'in memory until it stops, at most 100 accepted and 200 rejected entries. A request that names no API key belongs ' +
    'to the first API key, unless the server has several workspaces. A node that does not answer within 250 ms is ' +
    'left out. Calls of the console with valid credentials that found nothing, or that were not permitted, are not listed.',
  request: json.object(
    {},
    {
      onlyRejected: json.flag('Only requests that the server rejected.'),
      kind: json.choice(kinds, 'Only requests of this kind.'),
      ...pageRequest,
      pageSize: pageSizeUpTo(recentPageMax, recentPageMax),
    },
  ),
  response: json.list(
    json.object(
      {
        id: json.text(),
        timestamp: json.integer('Epoch milliseconds of the latest of these requests.', {
          examples: [1_767_225_600_000],
        }),
        kind: json.choice(kinds),
        target: json.text('Path of the operation, or the document that the websocket requested.', {
          examples: ['/v2/crdt/update'],
        }),
        outcome: json.text('`success`, the status of an error, or the close code of a websocket.', {
          examples: ['INVALID_ARGUMENT'],
        }),
        clientAddress: json.text('IP address of the client.', { examples: ['203.0.113.7'] }),
        times: json.integer('Number of equal requests.', { examples: [3] }),
        node: json.text('Node of the cluster that answered.'),
      },
      {
        code: json.text('Code of the error of a call.', { examples: ['request/unknown-member'] }),
        reason: json.text('Why the server rejected the request.'),
        requestId: json.text('Id of the latest of these calls, as in the log.'),
      },
    ),
  ),
  async handler({ onlyRejected = false, kind = null, ...page }, context) {
    const { caller, services } = context
    return answerPage(
      context,
      [path, onlyRejected, kind],
      page,
      (range) => services.recent.list(caller.tenant, { onlyRejected, kind }, range),
      ['requests', ({ at, ...request }) => ({ timestamp: at, ...request })],
      recentPageMax,
    )
  },
})
