import { json } from '../../../core/base/schema.ts'
import type { OrganizationScope } from '../../../core/directory/organizations/organization-keys.ts'
import { defineOperation } from '../../operation.ts'
import { checkPresentUsers, placeCursors } from '../../presence-cursors.ts'
import {
  cursorErrors,
  presenceInputs,
  presenceScope,
  presenceSuccess,
  tooManyPresent,
} from '../../schemas/presence-schema.ts'
import { documentErrors, documentPlace } from '../../schemas/resource-schema.ts'
import type { Services } from '../../services.ts'

/** Time for which a user appears who has not opened the document, in milliseconds. The default of `presence/add`. */
const absentTtlMs = 60_000

/** Returns the users who belong to the organization, with the name and email that they have there by default. */
async function membersAmong<User extends { readonly userId: string }>(
  { users }: Pick<Services, 'users'>,
  scope: OrganizationScope,
  given: readonly User[],
): Promise<readonly User[]> {
  if (given.length === 0) return []
  const organization = { type: 'organization', id: scope.organizationId } as const
  const ids = given.map(({ userId }) => userId)
  const found = new Map((await users.find(scope, organization, ids)).map(({ user }) => [user.userId, user]))
  return given.flatMap((user) => {
    const record = found.get(user.userId)
    return record === undefined ? [] : [{ name: record.name, email: record.email, ...user }]
  })
}

export const updatePresence = defineOperation({
  path: '/v2/presence/update',
  auth: 'key',
  effect: 'repeatable',
  runsAt: 'owner',
  audited: 'change',
  summary: 'Change the presence of users on a document',
  description:
    'Omitted members keep their values. Clients see the status at once, as `user.status` of the awareness state. It ' +
    'stays until the next change, or until the user closes the last connection. For users who are not connected, the ' +
    'limited time starts again. A user of the organization who has not opened the document appears for 60 seconds. Other ' +
    'users who are not present are skipped.',
  request: json.object({
    ...documentPlace,
    users: presenceInputs,
  }),
  response: presenceSuccess('none of the users is present or belongs to the organization'),
  errors: [...documentErrors, ...cursorErrors, tooManyPresent],
  async handler({ users: given, ...document }, context) {
    const { caller, services } = context
    const checked = checkPresentUsers(given)
    const scope = await presenceScope(document, caller, services)
    const users = await placeCursors(context, document, checked)
    const { presence } = services.rooms
    const entries = presence.use(scope, (present) => present.entries())
    const here = new Set(entries.map(({ userId }) => userId))
    const absent = users.filter(({ userId }) => !here.has(userId))
    const added = await membersAmong(services, scope, absent)
    const updated = presence.use(scope, (present) => {
      if (added.length > 0) present.add(added, absentTtlMs)
      return added.length + present.update(users.filter(({ userId }) => here.has(userId)))
    })
    return {
      message: `${updated} of ${users.length} users updated.`,
      data: { success: updated > 0 || users.length === 0 },
    }
  },
})
