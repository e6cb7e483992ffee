import { defineOperation } from '../../operation.ts'
import { checkPresentUsers, placeCursors } from '../../presence-cursors.ts'
import {
  cursorErrors,
  presenceDocument,
  presenceInputs,
  presenceScope,
  presenceSuccess,
} from '../../schemas/presence-schema.ts'
import { documentErrors } from '../../schemas/resource-schema.ts'

export const updatePresence = defineOperation({
  path: '/v2/presence/update',
  auth: 'key',
  effect: 'repeatable',
  audited: 'change',
  summary: 'Change the presence of users on a document',
  description:
    'Omitted members keep their values. Clients see the status at once, as `user.status` of the awareness state. It ' +
    'stays until the next change, or until the user closes the last connection. For users who are not connected, the ' +
    'limited time starts again. Users who are not present are skipped.',
  request: {
    type: 'object',
    required: ['organizationId', 'documentId', 'users'],
    properties: { ...presenceDocument, users: presenceInputs },
  },
  response: presenceSuccess('none of the users is present'),
  errors: [...documentErrors, ...cursorErrors],
  async handler({ users: given, ...document }, context) {
    const { caller, services } = context
    const checked = checkPresentUsers(given)
    const scope = await presenceScope(document, caller, services)
    const users = await placeCursors(context, document, checked)
    const updated = await services.rooms.presence.update(scope, users)
    return { message: `${updated} of ${users.length} users updated.`, data: { success: updated > 0 } }
  },
})
