import { json } from '../../../core/base/schema.ts'
import { close } from '../../../core/model/close.ts'
import { defineOperation } from '../../operation.ts'
import { batchMax } from '../../schemas/resource-schema.ts'

/** Code and reason of a close after which the client does not reconnect by itself. */
const forGood = close('forbidden', 'an administrator closed the connection')
/** Code and reason of a close after which the client reconnects immediately. */
const toReconnect = close('serviceRestart', 'an administrator closed the connection; reconnect')

export const closeConnections = defineOperation({
  path: '/v2/connections/close',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Close live connections',
  description:
    'Closes connections on any node of the cluster. Their changes up to then stay. A client is closed with 4403 and does ' +
    'not connect again by itself, but its token stays valid: to keep a user out, also revoke the tokens or the ' +
    'permissions of the user. A connection that is closed already is a success.',
  request: json.object(
    {
      connectionIds: json.list(json.id(), { maxItems: batchMax, description: 'Ids from `connections/get`.' }),
    },
    {
      reconnect: json.flag('Close with 1012 instead, after which clients connect again immediately.'),
    },
  ),
  response: json.object({ closed: json.integer('Number of connections that were open.', { examples: [1] }) }),
  async handler({ connectionIds, reconnect = false }, { caller, services }) {
    const reason = reconnect ? toReconnect : forGood
    const closed = await services.rooms.connections.close(caller.tenant, connectionIds, reason)
    return { message: `${closed} connections closed.`, data: { closed } }
  },
})
