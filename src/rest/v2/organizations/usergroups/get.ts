import { type FromSchema, json } from '../../../../core/base/schema.ts'
import type { PageRange } from '../../../../core/directory/store/list-page.ts'
import { defineOperation, type OperationContext } from '../../../operation.ts'
import { answerPage, pageRequest, readPage } from '../../../paging/page-request.ts'
import {
  groupNotFound,
  groupRecords,
  toGroupGrantResponse,
  toGroupResponse,
} from '../../../schemas/group-schema.ts'
import { resourceErrors } from '../../../schemas/resource-schema.ts'
import { userPlace, userResource } from '../../../schemas/user-schema.ts'
import { invalidAt } from '../../../validator.ts'

const request = json.object(
  { organizationId: json.id('Organization of the groups.') },
  {
    folderId: {
      ...userPlace.folderId,
      description: 'Only groups with a role on this folder.',
    },
    documentId: {
      ...userPlace.documentId,
      description: 'Only groups with a role on this document; not together with `folderId`.',
    },
    organizationUserGroupId: json.id(
      'Answer this group, with its users, or with `grants`, which are what is paged; not together with `folderId` ' +
        'or `documentId`.',
    ),
    grants: json.flag(
      'With `organizationUserGroupId`, true: returns the grants of the group in place of its users.',
    ),
    groupIds: json.list(json.id(), {
      maxItems: 30,
      description: 'Only groups with these ids; default: all groups.',
    }),
    ...pageRequest,
  },
)

type Request = FromSchema<typeof request>

export const getGroups = defineOperation({
  path: '/v2/organizations/usergroups/get',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'List user groups, or the users or grants of one group',
  description:
    'Groups of an organization, ordered by id; with a folder or document, the groups that have a role on it. Or one ' +
    'group with its users, or with its grants.',
  request,
  response: groupRecords,
  errors: [...resourceErrors, groupNotFound],
  async handler(data, context) {
    const { organizationId, organizationUserGroupId, groupIds } = data
    const { groups } = context.services
    const scope = { ...context.caller.tenant, organizationId }
    const resource = userResource(data)
    if (organizationUserGroupId !== undefined) return oneGroup(data, organizationUserGroupId, context)
    if (groupIds !== undefined) {
      const found = await groups.find(scope, resource, groupIds)
      return { message: `${found.length} groups found.`, data: found.map(toGroupResponse) }
    }
    const on = resource.type === 'organization' ? [] : [resource.type, resource.id]
    const list = (range: PageRange) => groups.list(scope, resource, range)
    return answerPage(context, ['groups', organizationId, ...on], data, list, ['groups', toGroupResponse])
  },
})

async function oneGroup(data: Request, groupId: string, context: OperationContext) {
  for (const other of ['groupIds', 'folderId', 'documentId'] as const)
    if (data[other] !== undefined)
      throw invalidAt({
        path: `/data/${other}`,
        message: 'must not be given together with organizationUserGroupId',
      })
  return data.grants === true ? grantsOf(data, groupId, context) : usersOf(data, groupId, context)
}

async function usersOf(data: Request, groupId: string, context: OperationContext) {
  const { organizationId } = data
  const scope = { ...context.caller.tenant, organizationId }
  const { found, token } = await readPage(context, ['members', organizationId, groupId], data, (range) =>
    context.services.groups.members(scope, groupId, range),
  )
  return {
    message: `${found.items.length} users found.`,
    data: [{ ...found.group, userIds: found.items }],
    ...token,
  }
}

async function grantsOf(data: Request, groupId: string, context: OperationContext) {
  const { organizationId } = data
  const scope = { ...context.caller.tenant, organizationId }
  const query = ['grants of a group', organizationId, groupId]
  const { found, token } = await readPage(context, query, data, (range) =>
    context.services.groups.granted(scope, groupId, range),
  )
  return {
    message: `${found.items.length} grants found.`,
    data: [{ ...found.group, grants: found.items.map(toGroupGrantResponse) }],
    ...token,
  }
}
