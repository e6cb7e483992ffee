import { json } from '../../../core/base/schema.ts'
import { defineAgentOperation } from '../../operation.ts'
import { alwaysSuccess, presenceScope, presentUserIds } from '../../schemas/presence-schema.ts'
import { documentErrors, documentPlace } from '../../schemas/resource-schema.ts'

export const deletePresence = defineAgentOperation({
  path: '/v2/presence/delete',
  agents: { role: 'viewer', ids: ['userIds.*'] },
  effect: 'repeatable',
  runsAt: 'owner',
  audited: 'change',
  summary: 'Remove users from the presence of a document',
  description:
    'Hides users. Connected users stay connected, and appear again when they reconnect or when `presence/add` adds ' +
    'them. A user who is not present is a success.',
  request: json.object({
    ...documentPlace,
    userIds: presentUserIds,
  }),
  response: alwaysSuccess,
  errors: documentErrors,
  async handler({ userIds, ...document }, { caller, services }) {
    const scope = await presenceScope(document, caller, services)
    const deleted = services.rooms.presence.use(scope, (presence) => presence.delete(userIds))
    return { message: `${deleted} users removed.`, data: { success: true } }
  },
})
