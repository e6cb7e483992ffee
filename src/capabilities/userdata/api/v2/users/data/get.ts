import type { PageRange } from '../../../../../../core/directory/store/list-page.ts'
import { defineOperation } from '../../../../../../rest/operation.ts'
import { answerPage, pageRequest } from '../../../../../../rest/paging/page-request.ts'
import { organizationNotFound } from '../../../../../../rest/schemas/resource-schema.ts'
import { dataScope, dataScopeOf, toDatumResponse, userDatums } from '../../../user-data-schema.ts'

export const getUserData = defineOperation({
  path: '/v2/users/data/get',
  auth: 'key',
  effect: 'reads',
  audited: 'admin',
  summary: "Get one user's data",
  description:
    'All stored data of a user: presence, judgments, permissions, groups, the user record, comments, activities, ' +
    'notifications and notification settings. Comments, activities and notifications include the ones that name the ' +
    'user; a `comment` without a `commentId` is an annotation. The order is stable: a record that exists from the first ' +
    'page to the last is returned exactly once. A page may have fewer items than `pageSize`, or no items, and is not ' +
    'always the last one. The content of documents is not included.',
  request: { type: 'object', required: ['userId'], properties: { ...dataScope, ...pageRequest } },
  response: userDatums,
  errors: [organizationNotFound],
  async handler(data, context) {
    const { userId, organizationId } = data
    const place = dataScopeOf(data, context.caller)
    const query = ['user data', userId, organizationId ?? null]
    const list = (range: PageRange) => context.services.userData.list(place, userId, range)
    return answerPage(context, query, data, list, ['items', toDatumResponse])
  },
})
