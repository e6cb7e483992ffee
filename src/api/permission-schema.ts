import { expiresAtMax } from '../directory/grants.ts'
import type { Subject } from '../directory/organization-keys.ts'
import type { From } from './schema.ts'
import { type Issue, invalidAt } from './validator.ts'

const named = {
  type: { type: 'string', enum: ['organization', 'document', 'folder'] },
  id: { type: 'string', format: 'id', description: 'Id of the resource.' },
  organizationId: {
    type: 'string',
    format: 'id',
    description: 'Organization of the resource; required for documents and folders.',
  },
} as const

/** A resource of which access is taken. */
export const namedResource = {
  type: 'object',
  required: ['type', 'id'],
  properties: named,
  examples: [{ type: 'document', id: 'report', organizationId: 'acme' }],
} as const

/** A permission resource entry. */
export const grantedResource = {
  type: 'object',
  required: ['type', 'id'],
  properties: {
    ...named,
    accessRole: { type: 'string', enum: ['viewer', 'editor'], default: 'editor' },
    expiresAt: {
      type: 'number',
      maximum: expiresAtMax,
      description: 'Unix time in seconds at which the permission ends; without it it does not.',
    },
  },
  examples: [{ type: 'document', id: 'report', organizationId: 'acme', accessRole: 'viewer' }],
} as const

/** Whom permissions are for: one of the two. */
export const subjects = {
  organizationUserGroupId: {
    type: 'string',
    format: 'id',
    description: 'A group that this is for, instead of a user; all resources are of its organization.',
  },
} as const

type NamedResource = From<typeof namedResource>

/** Where something is in `data.permissions.resources`, and what is wrong with it. */
const issueOf = (index: number, member: keyof From<typeof grantedResource>, message: string): Issue => ({
  path: `/data/permissions/resources/${index}/${member}`,
  message,
})

/** The organization that a resource is of. @throws ApiError INVALID_ARGUMENT when none, or another one, is named */
export function ownerOf({ type, id, organizationId }: NamedResource, index: number): string {
  if (type === 'organization' && organizationId !== undefined && organizationId !== id)
    throw invalidAt(issueOf(index, 'organizationId', 'must equal the id of the organization'))
  const owner = organizationId ?? (type === 'organization' ? id : undefined)
  if (owner === undefined) throw invalidAt(issueOf(index, 'organizationId', `is required for a ${type}`))
  return owner
}

/** @param now epoch milliseconds @throws ApiError INVALID_ARGUMENT when the end has passed */
export function checkEnd(expiresAt: number | undefined, index: number, now: number): void {
  if (expiresAt !== undefined && expiresAt * 1000 <= now)
    throw invalidAt(issueOf(index, 'expiresAt', 'is in the past'))
}

/** @throws ApiError INVALID_ARGUMENT when a resource is there twice: which of them is meant would depend on their order */
export function checkDistinct(resources: readonly NamedResource[]): void {
  const seen = new Set<string>()
  for (const [index, resource] of resources.entries()) {
    const name = JSON.stringify([ownerOf(resource, index), resource.type, resource.id])
    if (seen.has(name)) throw invalidAt(issueOf(index, 'id', 'is listed more than once'))
    seen.add(name)
  }
}

/**
 * @param userPath JSON pointer of where a user is named
 * @throws ApiError INVALID_ARGUMENT unless exactly one is given
 */
export function subjectOf(
  userId: string | undefined,
  organizationUserGroupId: string | undefined,
  userPath: string,
): Subject {
  if (userId !== undefined && organizationUserGroupId !== undefined)
    throw invalidAt({
      path: '/data/organizationUserGroupId',
      message: 'must not be given together with a user',
    })
  if (userId !== undefined) return { type: 'user', id: userId }
  if (organizationUserGroupId !== undefined) return { type: 'group', id: organizationUserGroupId }
  throw invalidAt({ path: userPath, message: 'is required, or organizationUserGroupId' })
}
