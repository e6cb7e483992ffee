import type {
  AuthPermissionsGetDataEntry,
  AuthPermissionsGetDataEntryOrganizationEntry,
} from '../../client/api/operation-types.ts'

export type RoleName = 'viewer' | 'suggester' | 'editor'

/** A resource on which roles are granted. */
export interface ConsoleResource {
  readonly type: 'organization' | 'folder' | 'document'
  readonly id: string
  readonly organizationId: string
}

/** The role of a user on one resource, as `/v2/auth/permissions/get` returns it. */
export type PermissionEntry = AuthPermissionsGetDataEntryOrganizationEntry

export const accessTypes = [
  ['public', 'Public: every user with a token'],
  ['organizationPrivate', 'Organization: users of the organization'],
  ['restricted', 'Restricted: only users with a role'],
] as const
export type AccessTypeName = (typeof accessTypes)[number][0]

export const roles = [
  ['editor', 'Editor'],
  ['suggester', 'Suggester'],
  ['viewer', 'Viewer'],
] as const satisfies readonly (readonly [RoleName, string])[]

const words = {
  editor: 'may edit',
  suggester: 'may read, and edit own branches',
  viewer: 'may read',
} as const

/** Describes a permission in words. */
export function describePermission(right: PermissionEntry | undefined): string {
  if (right === undefined) return ''
  if (right.errorCode === 'does_not_exist') return 'does not exist'
  return right.accessRole === undefined ? 'no access' : words[right.accessRole]
}

/** Describes the reason of a permission in words. Returns '' if the permission has no reason. */
export function describeReason({ accessType, accessRole, reason }: PermissionEntry = {}): string {
  if (reason === undefined) return ''
  const { source, resourceType, resourceId, groupId } = reason
  const on = resourceType === undefined ? '' : ` on the ${resourceType} ${resourceId}`
  if (source === 'user') return `granted to the user${on}`
  if (source === 'group') return `granted to the group ${groupId}${on}`
  if (source === 'membership')
    return accessRole === undefined ? 'not a user of the organization' : 'user of the organization'
  const set = resourceType === undefined ? '' : `, set${on}`
  return accessRole === undefined
    ? `nothing granted, access is ${accessType}${set}`
    : `access is ${accessType}${set}`
}

export function permissionOn(
  rights: AuthPermissionsGetDataEntry | undefined,
  { type, id }: ConsoleResource,
): PermissionEntry | undefined {
  if (rights === undefined) return undefined
  if (type === 'organization') return rights.organization[id]
  return rights[type === 'folder' ? 'folders' : 'documents'][id]
}

/**
 * Converts the end of a grant to epoch seconds. Returns undefined if the grant has no end.
 * @param local time in the format of `<input type="datetime-local">`; empty for a grant without an end
 */
export function expirySeconds(local: string): number | undefined {
  const at = Date.parse(local)
  return Number.isNaN(at) ? undefined : Math.floor(at / 1000)
}
