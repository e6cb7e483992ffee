import { directoryLimits } from '../../../directory/limits.ts'
import { defineOperation } from '../../operation.ts'
import { pageRequest, readPage } from '../../paging/page-request.ts'
import { parseSearch, searchQuery, searchRequest } from '../../paging/search-request.ts'
import { showUser, userRecords, userResource, userScope } from '../../schemas/user-schema.ts'

const { lookedAtBySearch } = directoryLimits

export const getUsers = defineOperation({
  path: '/v2/users/get',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'List users',
  description:
    'Users of an organization: all who were added to it, or have a right on something in it, or are in one of its ' +
    'groups. With a folder or document: those to whom a role is granted on it. In the order of their ' +
    'ids, in pages; with `search` the ones in whose id, name or email it is.',
  request: {
    type: 'object',
    required: ['organizationId'],
    properties: {
      ...userScope,
      userIds: {
        type: 'array',
        maxItems: 30,
        items: { type: 'string', format: 'id' },
        description: 'Answer these, as far as they are users of the resource; without it all.',
      },
      ...searchRequest('their id, name or email; not with `userIds`', lookedAtBySearch),
      ...pageRequest,
    },
  },
  response: userRecords,
  errors: [{ status: 'NOT_FOUND', when: 'the organization, folder or document does not exist' }],
  async handler(data, context) {
    const { users } = context.services
    const scope = { ...context.caller.tenant, organizationId: data.organizationId }
    const resource = userResource(data)
    const search = parseSearch(data.search, ['userIds', data.userIds], lookedAtBySearch)
    if (data.userIds !== undefined) {
      const found = await users.find(scope, resource, data.userIds)
      return { message: `${found.length} users found.`, data: found.map(showUser) }
    }
    const query = ['users', data.organizationId, resource.type, resource.id, ...searchQuery(data.search)]
    const { found, token } = await readPage(context, query, data, (range) =>
      users.list(scope, resource, { ...range, search }),
    )
    return { message: `${found.items.length} users found.`, data: found.items.map(showUser), ...token }
  },
})
