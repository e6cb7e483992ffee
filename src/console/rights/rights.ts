export type Role = 'viewer' | 'editor'

/** Something that roles are granted on. */
export interface Resource {
  readonly type: 'organization' | 'folder' | 'document'
  readonly id: string
  readonly organizationId: string
}

/** What a user may do on one resource, as `/v2/auth/permissions/get` says it. */
export interface Right {
  readonly accessRole?: Role
  readonly accessType?: AccessType
  /** Epoch seconds. */
  readonly expiresAt?: number
  readonly errorCode?: 'does_not_exist' | 'permission_denied'
}

export interface RightsOfUser {
  readonly organization: Readonly<Record<string, Right>>
  readonly folders: Readonly<Record<string, Right>>
  readonly documents: Readonly<Record<string, Right>>
}

/** By the ids of users. */
export type Rights = Readonly<Record<string, RightsOfUser>>

export const accessTypes = [
  ['public', 'Public: everybody with a token may'],
  ['organizationPrivate', 'Organization: its users may'],
  ['restricted', 'Restricted: who was granted a role may'],
] as const
export type AccessType = (typeof accessTypes)[number][0]

export const roles = [
  ['editor', 'Editor'],
  ['viewer', 'Viewer'],
] as const satisfies readonly (readonly [Role, string])[]

const words = { editor: 'may edit', viewer: 'may read' } as const

/** A right in words. */
export function sayRight(right: Right | undefined): string {
  if (right === undefined) return ''
  if (right.errorCode === 'does_not_exist') return 'does not exist'
  return right.accessRole === undefined ? 'no access' : words[right.accessRole]
}

export function rightOn(rights: RightsOfUser | undefined, { type, id }: Resource): Right | undefined {
  if (rights === undefined) return undefined
  if (type === 'organization') return rights.organization[id]
  return rights[type === 'folder' ? 'folders' : 'documents'][id]
}

/**
 * The end of a grant.
 * @param local a moment as `<input type="datetime-local">` gives it; empty: no end
 * @returns epoch seconds
 */
export function endOf(local: string): number | undefined {
  const at = Date.parse(local)
  return Number.isNaN(at) ? undefined : Math.floor(at / 1000)
}
