import { organizationId } from '../../../group-schema.ts'
import { type Context, operation } from '../../../operation.ts'
import { paging, readPage } from '../../../paging.ts'
import type { From } from '../../../schema.ts'
import { invalidAt } from '../../../validator.ts'

const request = {
  type: 'object',
  required: ['organizationId'],
  properties: {
    organizationId,
    organizationUserGroupId: {
      type: 'string',
      format: 'id',
      description: 'Answer this group, with its users, who are what is paged.',
    },
    groupIds: {
      type: 'array',
      maxItems: 30,
      items: { type: 'string', format: 'id' },
      description: 'Answer these groups, as far as they exist; without both all.',
    },
    ...paging,
  },
} as const

const response = {
  type: 'array',
  items: {
    type: 'object',
    required: ['groupId', 'groupName', 'createdAt', 'lastUpdated'],
    properties: {
      groupId: { type: 'string' },
      groupName: { type: 'string' },
      createdAt: { type: 'integer', description: 'Epoch milliseconds.' },
      lastUpdated: { type: 'integer', description: 'Epoch milliseconds.' },
      userIds: {
        type: 'array',
        items: { type: 'string' },
        description: 'Users of the group, in the order of their ids; only with `organizationUserGroupId`.',
      },
    },
  },
} as const

type Request = From<typeof request>

export const getGroups = operation({
  path: '/v2/organizations/usergroups/get',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'List user groups, or the users of one',
  description: 'Groups of an organization in the order of their ids; or one group with its users.',
  request,
  response,
  errors: [{ status: 'NOT_FOUND', when: 'the organization, or the one group, does not exist' }],
  async handler(data, context) {
    const { organizationId, organizationUserGroupId, groupIds } = data
    const { groups } = context.services
    const scope = { ...context.caller.tenant, organizationId }
    if (organizationUserGroupId !== undefined) return oneGroup(data, organizationUserGroupId, context)
    if (groupIds !== undefined) {
      const found = await groups.find(scope, groupIds)
      return { message: `${found.length} groups found.`, data: found }
    }
    const { found, token } = await readPage(context, ['groups', organizationId], data, (range) =>
      groups.list(scope, range),
    )
    return { message: `${found.items.length} groups found.`, data: found.items, ...token }
  },
})

async function oneGroup(data: Request, groupId: string, context: Context) {
  if (data.groupIds !== undefined)
    throw invalidAt({
      path: '/data/groupIds',
      message: 'must not be given together with organizationUserGroupId',
    })
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
