import { defineOperation } from '../../operation.ts'
import {
  presenceDocument,
  presenceDocumentNotFound,
  presenceInputs,
  presenceScope,
  presenceSuccess,
} from '../../schemas/presence-schema.ts'

export const updatePresence = defineOperation({
  path: '/v2/presence/update',
  auth: 'key',
  effect: 'repeatable',
  audited: 'change',
  summary: 'Change what is shown of users on a document',
  description:
    'What is left out stays as it is. Clients see the status at once, as `user.status` of the awareness state, and it ' +
    'stays until it is changed here or the user closes the last connection. Users who are not connected stay for ' +
    'their time from now. Users who are not present are left alone.',
  request: {
    type: 'object',
    required: ['organizationId', 'documentId', 'users'],
    properties: { ...presenceDocument, users: presenceInputs },
  },
  response: presenceSuccess('none of the users is present'),
  errors: [presenceDocumentNotFound],
  async handler({ users, ...document }, { caller, services }) {
    const scope = await presenceScope(document, caller, services)
    const updated = await services.rooms.presence.update(scope, users)
    return { message: `${updated} of ${users.length} users updated.`, data: { success: updated > 0 } }
  },
})
