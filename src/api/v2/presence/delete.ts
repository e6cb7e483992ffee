import { defineOperation } from '../../operation.ts'
import {
  alwaysSuccess,
  presenceDocument,
  presenceDocumentNotFound,
  presenceScope,
  presentUserIds,
} from '../../schemas/presence-schema.ts'

export const deletePresence = defineOperation({
  path: '/v2/presence/delete',
  auth: 'key',
  effect: 'repeatable',
  audited: 'change',
  summary: 'Take users away from a document',
  description:
    'They are shown no more. Those who are connected stay so, unseen, until they connect again or are added by ' +
    '`presence/add`. Who is not present needs no taking away: that is a success.',
  request: {
    type: 'object',
    required: ['organizationId', 'documentId', 'userIds'],
    properties: { ...presenceDocument, userIds: { ...presentUserIds, minItems: 1 } },
  },
  response: alwaysSuccess,
  errors: [presenceDocumentNotFound],
  async handler({ userIds, ...document }, { caller, services }) {
    const scope = await presenceScope(document, caller, services)
    const deleted = await services.rooms.presence.delete(scope, userIds)
    return { message: `${deleted} users taken away.`, data: { success: true } }
  },
})
