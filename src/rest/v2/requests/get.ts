import { recentPageMax } from '../../../core/audit/recent-requests.ts'
import { defineOperation } from '../../operation.ts'
import { pageRequest, pageSizeUpTo, readPage } from '../../paging/page-request.ts'

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
    'to the first API key, unless the server can have several workspaces. A node that does not answer within 250 ms is ' +
    'left out.',
  request: {
    type: 'object',
    properties: {
      onlyRejected: {
        type: 'boolean',
        default: false,
        description: 'Only requests that the server rejected.',
      },
      kind: { type: 'string', enum: kinds, description: 'Only requests of this kind.' },
      ...pageRequest,
      pageSize: pageSizeUpTo(recentPageMax, recentPageMax),
    },
  },
  response: {
    type: 'array',
    items: {
      type: 'object',
      required: ['id', 'timestamp', 'kind', 'target', 'outcome', 'clientAddress', 'times', 'node'],
      properties: {
        id: { type: 'string' },
        timestamp: {
          type: 'integer',
          description: 'Epoch milliseconds of the latest of these requests.',
          examples: [1_767_225_600_000],
        },
        kind: { type: 'string', enum: kinds },
        target: {
          type: 'string',
          description: 'Path of the operation, or the document that the websocket requested.',
          examples: ['/v2/crdt/update'],
        },
        outcome: {
          type: 'string',
          description: '`success`, the status of an error, or the close code of a websocket.',
          examples: ['INVALID_ARGUMENT'],
        },
        code: {
          type: 'string',
          description: 'Code of the error of a call.',
          examples: ['request/unknown-member'],
        },
        reason: { type: 'string', description: 'Why the server rejected the request.' },
        clientAddress: {
          type: 'string',
          description: 'IP address of the client.',
          examples: ['203.0.113.7'],
        },
        requestId: { type: 'string', description: 'Id of the latest of these calls, as in the log.' },
        times: { type: 'integer', description: 'Number of equal requests.', examples: [3] },
        node: { type: 'string', description: 'Node of the cluster that answered.' },
      },
    },
  },
  errors: [],
  async handler({ pageSize = recentPageMax, pageToken, onlyRejected = false, kind = null }, context) {
    const { caller, services } = context
    const range = {
      pageSize: Math.min(pageSize, recentPageMax),
      ...(pageToken !== undefined && { pageToken }),
    }
    const { found, token } = await readPage(context, [path, onlyRejected, kind], range, (page) =>
      services.recent.list(caller.tenant, { onlyRejected, kind }, page),
    )
    const data = found.items.map(({ at, ...request }) => ({ timestamp: at, ...request }))
    return { message: `${data.length} requests found.`, data, ...token }
  },
})
