import { json } from '../../../core/base/schema.ts'
import { directoryLimits } from '../../../core/directory/limits.ts'
import type { PageRange } from '../../../core/directory/store/list-page.ts'
import { defineOperation } from '../../operation.ts'
import {
  answerPage,
  pageRequest,
  parseSearch,
  searchQuery,
  searchRequest,
} from '../../paging/page-request.ts'
import { resourceErrors } from '../../schemas/resource-schema.ts'
import {
  toUserResponse,
  userOrganization,
  userPlace,
  userRecords,
  userResource,
} from '../../schemas/user-schema.ts'

const { lookedAtBySearch } = directoryLimits

export const getUsers = defineOperation({
  path: '/v2/users/get',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'List users',
  description:
    'Users of an organization: users who were added to it, have a permission in it, or are in one of its groups. With a ' +
    'folder or document: users who have a role on it. Ordered by id, in pages. `search` selects users whose id, name or ' +
    'email contains it.',
  request: json.object(userOrganization, {
    ...userPlace,
    userIds: json.list(json.id(), {
      maxItems: 30,
      description: 'Only users with these ids; default: all users of the resource.',
    }),
    ...searchRequest('their id, name or email; not with `userIds`', lookedAtBySearch),
    ...pageRequest,
  }),
  response: userRecords,
  errors: resourceErrors,
  async handler(data, context) {
    const { users } = context.services
    const scope = { ...context.caller.tenant, organizationId: data.organizationId }
    const resource = userResource(data)
    const search = parseSearch(data.search, ['userIds', data.userIds], lookedAtBySearch)
    if (data.userIds !== undefined) {
      const found = await users.find(scope, resource, data.userIds)
      return { message: `${found.length} users found.`, data: found.map(toUserResponse) }
    }
    const query = ['users', data.organizationId, resource.type, resource.id, ...searchQuery(data.search)]
    const list = (range: PageRange) => users.list(scope, resource, { ...range, search })
    return answerPage(context, query, data, list, ['users', toUserResponse])
  },
})
