import { json } from '../../../core/base/schema.ts'
import { accessRoles } from '../../../core/directory/store/records.ts'
import { connectionsPageMax, transportNames } from '../../../core/rooms/room/open-connections.ts'
import { defineOperation } from '../../operation.ts'
import { pageRequest, pageSizeUpTo, readPage } from '../../paging/page-request.ts'

const path = '/v2/connections/get'

export const getConnections = defineOperation({
  path,
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'List live connections',
  description:
    'Lists the clients that are connected to documents of the API key, on all nodes of the cluster, the newest first. ' +
    'A client with several documents on one websocket has a connection for each of them. A node that does not answer ' +
    'within 250 ms is left out.',
  request: json.object(
    {},
    {
      organizationId: json.id('Only on documents of this organization.'),
      documentId: json.id('Only on documents with this id.'),
      userId: json.id('Only of this user.', { examples: ['ada'] }),
      ...pageRequest,
      pageSize: pageSizeUpTo(connectionsPageMax, connectionsPageMax),
    },
  ),
  response: json.list(
    json.object({
      connectionId: json.text('For `connections/close`.'),
      organizationId: json.text(),
      documentId: json.text(),
      editorId: json.text(),
      userId: json.text('User of the token.'),
      name: json.text('Display name in the token, at most 200 characters of it.'),
      accessRole: json.choice(accessRoles, 'Present role of the user.'),
      protocol: json.text('Wire protocol of the client.', { examples: ['y-websocket'] }),
      transport: json.choice(transportNames, 'Connection of the client: a websocket, or HTTP requests.'),
      clientAddress: json.text('IP address of the client.', { examples: ['203.0.113.7'] }),
      connectedAt: json.integer('Epoch milliseconds.', { examples: [1_767_225_600_000] }),
      node: json.text('Node of the cluster to which the client is connected.'),
    }),
  ),
  async handler({ pageSize, pageToken, ...filter }, context) {
    const { caller, services } = context
    const { organizationId = null, documentId = null, userId = null } = filter
    const { found, token } = await readPage(
      context,
      [path, organizationId, documentId, userId],
      { pageSize, pageToken },
      (range) => services.rooms.connections.list(caller.tenant, filter, range),
      connectionsPageMax,
    )
    return { message: `${found.items.length} connections found.`, data: found.items, ...token }
  },
})
