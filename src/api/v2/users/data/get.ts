import { defineOperation } from '../../../operation.ts'
import { pageRequest, readPage } from '../../../paging/page-request.ts'
import { dataScope, dataScopeOf, showDatum, userDatums } from '../../../schemas/user-data-schema.ts'

export const getUserData = defineOperation({
  path: '/v2/users/data/get',
  auth: 'key',
  effect: 'reads',
  audited: 'admin',
  summary: "Get one user's data",
  description:
    'All that is kept of a user: presence, judgments, rights, groups, the record, comments, activities, notifications ' +
    'and what the user wants to see of them. Comments, activities and notifications are those of the user, and those ' +
    'that name the user; a `comment` without a `commentId` is an annotation. In an ' +
    'order that stays: what is there all the while comes once, whatever comes and goes between pages. A page may have ' +
    'fewer than `pageSize`, also none, and yet not be the last. The content of documents is not looked into.',
  request: { type: 'object', required: ['userId'], properties: { ...dataScope, ...pageRequest } },
  response: userDatums,
  errors: [{ status: 'NOT_FOUND', when: 'the organization does not exist' }],
  async handler(data, context) {
    const { userId, organizationId } = data
    const place = dataScopeOf(data, context.caller)
    const query = ['user data', userId, organizationId ?? null]
    const { found, token } = await readPage(context, query, data, (range) =>
      context.services.userData.list(place, userId, range),
    )
    return { message: `${found.items.length} items found.`, data: found.items.map(showDatum), ...token }
  },
})
