import { type FromSchema, json } from '../../core/base/schema.ts'
import type { Subject } from '../../core/directory/organizations/organization-keys.ts'
import { expiresAtMax } from '../../core/directory/permissions/grants.ts'
import { accessRoles } from '../../core/directory/store/records.ts'
import { invalidAt, type ValidationIssue } from '../validator.ts'

const named = {
  type: json.choice(['organization', 'document', 'folder']),
  id: json.id('Id of the resource.'),
} as const
const owner = {
  organizationId: json.id('Organization of the resource; required for documents and folders.'),
} as const

/** Schema of a resource whose permissions are revoked. */
export const namedResource = json.object(named, owner, {
  examples: [{ type: 'document', id: 'report', organizationId: 'acme' }],
})

/** Schema of a resource on which permissions are granted. */
export const grantedResource = json.object(
  named,
  {
    ...owner,
    accessRole: { type: 'string', enum: accessRoles, default: 'editor' },
    expiresAt: json.number(
      'Expiry of the permission, in Unix seconds; default: no expiry. A time in the past revokes it now.',
      { minimum: 0, maximum: expiresAtMax },
    ),
  },
  {
    examples: [{ type: 'document', id: 'report', organizationId: 'acme', accessRole: 'viewer' }],
  },
)

/** Request members for the subject of permissions: a user or a group. */
export const subjects = {
  organizationUserGroupId: json.id('A group in place of a user; all resources belong to its organization.'),
} as const

type NamedResource = FromSchema<typeof namedResource>

/** Returns an issue with the path of an entry of `data.permissions.resources`. */
const issueOf = (
  index: number,
  member: keyof FromSchema<typeof grantedResource>,
  message: string,
): ValidationIssue => ({
  path: `/data/permissions/resources/${index}/${member}`,
  message,
})

/**
 * Returns the organization of a resource.
 * @throws ApiError INVALID_ARGUMENT if the resource specifies no organization, or a wrong organization
 */
export function organizationOfResource({ type, id, organizationId }: NamedResource, index: number): string {
  if (type === 'organization' && organizationId !== undefined && organizationId !== id)
    throw invalidAt(issueOf(index, 'organizationId', 'must equal the id of the organization'))
  const found = organizationId ?? (type === 'organization' ? id : undefined)
  if (found === undefined) throw invalidAt(issueOf(index, 'organizationId', `is required for a ${type}`))
  return found
}

/**
 * Returns the last entry of each resource, in the order of these entries.
 * @throws ApiError like `organizationOfResource`
 */
export function lastOfEach<Entry extends NamedResource>(resources: readonly Entry[]): readonly Entry[] {
  const byName = new Map<string, Entry>()
  for (const [index, resource] of resources.entries()) {
    const name = JSON.stringify([organizationOfResource(resource, index), resource.type, resource.id])
    byName.delete(name)
    byName.set(name, resource)
  }
  return [...byName.values()]
}

/**
 * Returns the subject of a call: a user or a group.
 * @param userPath JSON pointer of the member with the user id
 * @throws ApiError INVALID_ARGUMENT unless the call specifies exactly one of the two
 */
export function parseSubject(
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
