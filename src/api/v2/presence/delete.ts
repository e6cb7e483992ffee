import { operation } from '../../operation.ts'
import {
  noDocument,
  presenceDocument,
  presenceScope,
  presenceSuccess,
  presentUserIds,
} from '../../presence-schema.ts'

export const deletePresence = operation({
  path: '/v2/presence/delete',
  auth: 'key',
  effect: 'once',
  audited: 'change',
  summary: 'Take users away from a document',
  description:
    'They are shown no more. Those who are connected stay so, unseen, until they connect again or are added by ' +
    '`presence/add`.',
  request: {
    type: 'object',
    required: ['organizationId', 'documentId', 'userIds'],
    properties: { ...presenceDocument, userIds: { ...presentUserIds, minItems: 1 } },
  },
  response: presenceSuccess('none of the users was present'),
  errors: [noDocument],
  async handler({ userIds, ...document }, { caller, services }) {
    const scope = await presenceScope(document, caller, services)
    const deleted = await services.rooms.presence.delete(scope, userIds)
    return { message: `${deleted} users taken away.`, data: { success: deleted > 0 } }
  },
})
