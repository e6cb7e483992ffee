import type { Key } from '../../engine/engine.ts'
import type { Tenant } from '../../model/address.ts'

/** An organization of a tenant. */
export interface OrganizationScope extends Tenant {
  readonly organizationId: string
}

export type ResourceType = 'organization' | 'folder' | 'document'
export type SubjectType = 'user' | 'group'

/** Names a resource within its organization. */
export interface Resource {
  readonly type: ResourceType
  readonly id: string
}

/** Whom a grant is for. */
export interface Subject {
  readonly type: SubjectType
  readonly id: string
}

/** Where a folder tree begins; no folder may be called so. */
export const rootFolderId = 'root'

/** What belongs to a tenant as a whole: its organizations by id, its revocations. */
export const tenantPart = ({ workspaceId, apiKey }: Tenant): Key => ['tenant', workspaceId, apiKey]

/** Everything of one organization is one partition, so that a change within it is one commit. */
export const organizationPart = ({ workspaceId, apiKey, organizationId }: OrganizationScope): Key => [
  'organization',
  workspaceId,
  apiKey,
  organizationId,
]

/** Keys in a tenant's partition. */
export const tenantKeys = {
  organization: (organizationId: string): Key => ['organizations', organizationId],
  organizations: ['organizations'] as Key,
  /** When a user's tokens were revoked last. */
  revocation: (userId: string): Key => ['revocations', userId],
  /** Another one with each revocation; only where several nodes are to learn of it. */
  revocationMark: ['revocationMark'] as Key,
  /** What has become of deleting a user's data; by a digest of whose, and where. */
  erasure: (digest: string): Key => ['erasures', digest],
}

/**
 * Keys in an organization's partition. What can be asked for in two directions is stored twice: the second time as an
 * index without content.
 */
export const keys = {
  organization: ['organization'] as Key,
  /** Numbers of things that are limited. */
  counts: ['counts'] as Key,
  documents: ['documents'] as Key,
  document: (documentId: string): Key => ['documents', documentId],
  folders: ['folders'] as Key,
  folder: (folderId: string): Key => ['folders', folderId],
  /** Index: every folder under the one that it is in. */
  folderTree: ['foldersIn'] as Key,
  /** Index: the folders directly in a folder, or in `root`. */
  foldersIn: (parentFolderId: string): Key => ['foldersIn', parentFolderId],
  folderIn: (parentFolderId: string, folderId: string): Key => ['foldersIn', parentFolderId, folderId],
  /** Index: the documents directly in a folder. Those in none are in `root`. */
  documentsIn: (folderId: string): Key => ['documentsIn', folderId],
  documentIn: (folderId: string, documentId: string): Key => ['documentsIn', folderId, documentId],
  groups: ['groups'] as Key,
  group: (groupId: string): Key => ['groups', groupId],
  membersOf: (groupId: string): Key => ['members', groupId],
  member: (groupId: string, userId: string): Key => ['members', groupId, userId],
  /** Index: the groups that users are in. */
  groupsOfAll: ['groupsOf'] as Key,
  /** Index: the groups that a user is in. */
  groupsOf: (userId: string): Key => ['groupsOf', userId],
  groupOf: (userId: string, groupId: string): Key => ['groupsOf', userId, groupId],
  users: ['users'] as Key,
  user: (userId: string): Key => ['users', userId],
  /** Removals that a node carries out; only where several may. */
  removals: ['removals'] as Key,
  removal: (name: string): Key => ['removals', name],
  /** Another one with each change of access; only where several nodes are to learn of it. */
  accessMark: ['accessMark'] as Key,
  /** When the data of a user was deleted; by a digest, which is no user's data. */
  erased: (digest: string): Key => ['erased', digest],
  /** Grants on a resource. */
  grantsOn: ({ type, id }: Resource): Key => ['grants', type, id],
  userGrantsOn: ({ type, id }: Resource): Key => ['grants', type, id, 'user'],
  groupGrantsOn: ({ type, id }: Resource): Key => ['grants', type, id, 'group'],
  grant: ({ type, id }: Resource, subject: Subject): Key => ['grants', type, id, subject.type, subject.id],
  /** Index: the grants of a user or a group, those that end first before the others. */
  grantsOf: (subject: Subject): Key => ['grantsOf', subject.type, subject.id],
  /** `expiresAt` as in the grant: epoch seconds, or null. */
  grantOf: (subject: Subject, { type, id }: Resource, expiresAt: number | null): Key => [
    'grantsOf',
    subject.type,
    subject.id,
    endOrder(expiresAt),
    type,
    id,
  ],
}

/** Sorts as text as the ends do as times; what never ends is last. Milliseconds of the year 9999 have 15 digits. */
const endOrder = (expiresAt: number | null): string =>
  expiresAt === null ? 'never' : String(Math.floor(expiresAt * 1000)).padStart(15, '0')
