import { json } from '../../../core/base/schema.ts'
import { reportCreated } from '../../near-miss-warnings.ts'
import { defineAgentOperation } from '../../operation.ts'
import { checkPresentUsers, placeCursors } from '../../presence-cursors.ts'
import {
  cursorErrors,
  presenceInputs,
  presenceScope,
  presenceSuccess,
  tooManyPresent,
} from '../../schemas/presence-schema.ts'
import { documentErrors, documentPlace } from '../../schemas/resource-schema.ts'
import { createFlags, createMissingParents, makesParents } from '../../schemas/user-schema.ts'

export const addPresence = defineAgentOperation({
  path: '/v2/presence/add',
  agents: { role: 'viewer', users: ['users.*'], without: ['createOrganization', 'createDocument'] },
  effect: 'repeatable',
  runsAt: 'owner',
  audited: 'change',
  warns: true,
  creates: true,
  summary: 'Add users to the presence of a document',
  description:
    'Users who are not connected appear for a limited time, also in the awareness of connected clients, each with its ' +
    'own client id. Connected users are changed as by `presence/update`. A user whom `presence/delete` removed appears ' +
    'again. The given values end when the user closes the last connection. Users who are not connected disappear when the ' +
    'server restarts or, in a cluster, when another node takes over the document.',
  request: json.object(
    {
      ...documentPlace,
      users: presenceInputs,
    },
    {
      ttlSeconds: json.number(
        'Time in seconds for which users who are not connected stay, unless they are added or updated again.',
        { minimum: 2, maximum: 3_599, default: 60 },
      ),
      createOrganization: createFlags.createOrganization,
      createDocument: createFlags.createDocument,
    },
  ),
  response: presenceSuccess('nobody was added'),
  errors: [...documentErrors, ...cursorErrors, tooManyPresent],
  async handler({ users: given, ttlSeconds = 60, ...data }, context) {
    const { caller, services } = context
    const users =
      caller.level === 'agent' ? given.map((user) => ({ ...user, kind: 'agent' as const })) : given
    const checked = checkPresentUsers(users)
    const { organizationId, documentId } = data
    const scope = { ...caller.tenant, organizationId }
    if (makesParents(data))
      services.rooms.presence.use({ ...scope, documentId }, (presence) =>
        presence.checkCapacity(checked.map(({ user }) => user)),
      )
    const created = await createMissingParents(services, scope, { type: 'document', id: documentId }, data)
    const document = await presenceScope(data, caller, services)
    const placed = await placeCursors(context, data, checked)
    services.rooms.presence.use(document, (presence) => presence.add(placed, ttlSeconds * 1000))
    const reported = await reportCreated(services, scope, created)
    return { message: `${users.length} users are present.`, data: { success: true }, ...reported }
  },
})
